"""What an operator relies on: alarms about what the code emits, a dashboard, validated parameters, a lean layer."""

import json
import re
import shutil
import subprocess
import tomllib

import pytest

from streambank import metrics
from tests.aws import ROOT, template
from tests.functions.declared import FUNCTIONS, RESOURCES

PARAMETERS = template()["Parameters"]
ALARMS = {name: found["Properties"] for name, found in RESOURCES.items() if found["Type"] == "AWS::CloudWatch::Alarm"}
EMITTED = {
    metrics.WINDOWS_PARKED,
    metrics.BUDGET_PAUSES,
    metrics.MODEL_THROTTLES,
    metrics.OLDEST_DUE,
    metrics.OLDEST_JOB,
    metrics.OLDEST_PENDING,
    metrics.SWEEP_FAULTS,
}
STAGES = ("Ingest", "OnStream", "Sweep", "Extract", "Consolidate", "Commit", "Failures", "Table")


def widgets():
    text, _ = RESOURCES["Dashboard"]["Properties"]["DashboardBody"]
    return json.loads(re.sub(r"\$\{[^}]+\}", "x", text))["widgets"]


def test_alarms_watch_what_the_code_emits():
    """Every metric that the code emits has an alarm, and no alarm waits for a metric that is never emitted."""
    own = {found["MetricName"] for found in ALARMS.values() if found.get("Namespace") == "Streambank"}
    assert own == EMITTED


@pytest.mark.parametrize("name", ALARMS)
def test_every_alarm_goes_somewhere(name):
    """An alarm notifies the topic, has a description, and is in the operator's table."""
    found = ALARMS[name]
    assert found["AlarmActions"] == found["OKActions"] == ["AlarmTopic"]
    assert found["AlarmDescription"]
    assert f"| `{name}` |" in (ROOT / "docs" / "operating.md").read_text()


def test_a_sweep_that_never_comes_is_an_alarm():
    """Only there does missing data ring: everywhere else nothing happened."""
    assert [name for name, found in ALARMS.items() if found["TreatMissingData"] == "breaching"] == ["SweepStopped"]


def test_the_dashboard_has_a_row_a_stage():
    """Rows follow the way of an event, three graphs each, and none lies on another."""
    rows = {}
    for widget in widgets():
        rows.setdefault(widget["y"], []).append(widget)
    assert all([widget["x"] for widget in row] == [0, 8, 16] for row in rows.values())
    titles = [" ".join(widget["properties"]["title"] for widget in row) for _, row in sorted(rows.items())]
    assert all(any(stage in title for title in titles) for stage in STAGES)


@pytest.mark.parametrize("name", PARAMETERS)
def test_every_parameter_is_validated(name):
    """What no list or range limits has a pattern, and the default is legal."""
    found = PARAMETERS[name]
    limits = {"AllowedValues", "AllowedPattern", "MinValue"} & set(found)
    assert limits
    assert found["Description"]
    default = str(found["Default"])
    if "AllowedPattern" in found:
        assert re.fullmatch(found["AllowedPattern"], default)
    if "AllowedValues" in found:
        assert default in map(str, found["AllowedValues"])


def test_the_parameters_are_documented():
    """Each parameter that can be chosen is in the deployer's table."""
    told = (ROOT / "docs" / "deploying.md").read_text()
    assert [name for name in PARAMETERS if f"`{name}`" not in told] == []


def test_stages_together_are_within_the_machine():
    """No generation is cut off by its machine while its stages are within their own timeouts."""
    machine = json.loads((ROOT / "infra" / "generation.asl.json").read_text())
    stages = ("Extract", "Consolidate", "Commit", "Fail")
    default = template()["Globals"]["Function"]["Timeout"]
    assert sum(FUNCTIONS[name].get("Timeout", default) for name in stages) < machine["TimeoutSeconds"]


def test_gateway_waits_longer_than_what_it_calls():
    """A function that API Gateway calls ends before the gateway's 30 seconds do."""
    assert all(FUNCTIONS[name]["Timeout"] < 30 for name in ("Ingest", "Api"))


def test_the_deployment_defaults_hold_no_secret():
    """samconfig.example.toml names parameters of the template, and nothing that looks like a secret."""
    text = (ROOT / "samconfig.example.toml").read_text()
    chosen = tomllib.loads(text)["production"]["deploy"]["parameters"]["parameter_overrides"]
    assert {pair.partition("=")[0] for pair in chosen.split()} <= set(PARAMETERS)
    assert not re.search(r"(?i)secret|password|token|akia", text.replace("No secret", ""))


def test_the_layer_leaves_out_what_is_never_deployed(tmp_path):
    """The layer's build copies handlers and package and no local mode, also in a folder with a space."""
    if shutil.which("make") is None:
        pytest.skip("needs make")
    source, artifacts = tmp_path / "a clone" / "shared", tmp_path / "a build"
    shutil.copytree(ROOT / "shared", source, ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run(["make", "-s", "package", f"ARTIFACTS_DIR={artifacts}"], cwd=source, check=True)
    package = artifacts / "python" / "streambank"
    assert {path.stem for path in package.parent.glob("*.py")} == {
        found["Handler"].partition(".")[0] for found in FUNCTIONS.values()
    }
    assert (package / "wiring" / "models.py").exists()
    assert (package / "llm" / "dialogue" / "prompts").exists()
    assert not (package / "llm" / "embedded").exists()
    assert not (package / "client").exists()
    assert not list(package.rglob("__pycache__"))


def test_a_layer_without_handlers_is_not_built(tmp_path):
    """In a container that does not follow the link to the handlers, the build fails and names the option."""
    if shutil.which("make") is None:
        pytest.skip("needs make")
    source = tmp_path / "source"
    shutil.copytree(ROOT / "shared", source, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    build = ["make", "-s", "package", f"ARTIFACTS_DIR={tmp_path / 'build'}"]
    result = subprocess.run(build, cwd=source, check=False, capture_output=True, text=True)
    assert result.returncode
    assert "sam build --use-container --mount-symlinks" in result.stderr


def test_the_layer_brings_a_boto3_that_searches_vectors():
    """Lambda's own boto3 may be too old, so the layer's is used, of the range that the distribution names."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    [wanted] = [one for one in project["optional-dependencies"]["server"] if one.startswith("boto3")]
    assert wanted in (ROOT / "requirements" / "layer.in").read_text().split()
    pins = (ROOT / "shared" / "requirements.txt").read_text()
    [pinned] = re.findall(r"^boto3==(\S+)", pins, re.MULTILINE)
    least = wanted.removeprefix("boto3>=")
    assert [int(part) for part in pinned.split(".")] >= [int(part) for part in least.split(".")]
    assert "boto3" not in (ROOT / "requirements" / "runtime.txt").read_text(), "a runtime without one proves the layer"
