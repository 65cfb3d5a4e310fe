"""What deploys the first time, the second time and beside itself: names, regions, partitions, routes, quotas."""

import json
import re
import shutil
import subprocess
import tomllib
from functools import cache
from typing import Any

import pytest
from samtranslator.yaml_helper import yaml_parse

from streambank.rules.model_choice import default_model
from streambank_local.emulator.translation import translate
from tests.aws import ROOT, template
from tests.functions.declared import FUNCTIONS, RESOURCES, statements

PARAMETERS = template()["Parameters"]
# The property that names a resource: a fixed value is taken once in an account and region.
NAMES = {
    "AWS::ApiGatewayV2::Api": "Name",
    "AWS::CloudWatch::Alarm": "AlarmName",
    "AWS::CloudWatch::Dashboard": "DashboardName",
    "AWS::DynamoDB::Table": "TableName",
    "AWS::IAM::ManagedPolicy": "ManagedPolicyName",
    "AWS::IAM::Role": "RoleName",
    "AWS::Lambda::Function": "FunctionName",
    "AWS::Lambda::LayerVersion": "LayerName",
    "AWS::Logs::LogGroup": "LogGroupName",
    "AWS::S3::Bucket": "BucketName",
    "AWS::SNS::Topic": "TopicName",
    "AWS::SQS::Queue": "QueueName",
    "AWS::Scheduler::Schedule": "Name",
    "AWS::StepFunctions::StateMachine": "StateMachineName",
}
UNNAMED = {
    "AWS::ApiGatewayV2::ApiMapping",
    "AWS::ApiGatewayV2::DomainName",  # the parameter names it
    "AWS::ApiGatewayV2::Stage",
    "AWS::Lambda::EventInvokeConfig",
    "AWS::Lambda::EventSourceMapping",
    "AWS::Lambda::Permission",
    "AWS::S3::BucketPolicy",
    "AWS::SNS::Subscription",
    "AWS::SQS::QueuePolicy",
}


@cache
def transformed() -> dict[str, Any]:
    """The template as CloudFormation gets it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        # Local mode gives its own resources fixed names, which go again below.
        source = yaml_parse((ROOT / "template.yaml").read_text())
        result = translate(source, ROOT, {})
    for resource in result["Resources"].values():
        for name in ("TableName", "BucketName", "StateMachineName"):
            if str(resource["Properties"].get(name, "")).startswith("streambank-"):
                del resource["Properties"][name]
    return result


def resources() -> dict[str, Any]:
    found: dict[str, Any] = transformed()["Resources"]
    return found


def test_two_stacks_of_one_account_share_no_name():
    """No resource has a fixed name: each has none, or the stack's name in it."""
    assert {one["Type"] for one in resources().values()} <= {*NAMES, *UNNAMED}
    for name, one in resources().items():
        named = one["Properties"].get(NAMES.get(one["Type"], ""))
        assert named is None or "${AWS::StackName}" in json.dumps(named), name


def test_a_release_changes_a_function_in_one_call():
    """Handlers and package are in the layer; the code of the functions themselves is one folder without code."""
    assert template()["Globals"]["Function"]["CodeUri"] == "infra/function/"
    assert not any("CodeUri" in properties or "Layers" in properties for properties in FUNCTIONS.values())
    assert [path.name for path in (ROOT / "infra" / "function").iterdir()] == ["README.md"]


def test_no_arn_names_a_partition():
    """The template and the state machine also deploy outside of the partition `aws`."""
    machine = (ROOT / "infra" / "generation.asl.json").read_text()
    assert re.findall(r'"arn:[^$"]', machine) == []
    rules = ("AllowedPattern", "Description")
    text = json.dumps({name: one for name, one in template().items() if name != "Parameters"})
    assert re.findall(r"arn:(?!\$\{AWS::Partition\})\S{20}", text) == []
    assert all("arn:aws:" not in str(one.get(rule)) for one in PARAMETERS.values() for rule in rules)
    assert RESOURCES["Generation"]["Properties"]["DefinitionSubstitutions"]["Partition"] == "AWS::Partition"


def test_no_route_holds_a_colon_unless_it_is_asked_for():
    """That an HTTP API takes a colon in a route was not tried, so a stack asks for one only if a parameter says so."""
    paths = resources()["HttpApi"]["Properties"]["Body"]["paths"]
    asked = {path: one["Fn::If"] for path, one in paths.items() if ":" in path}
    assert len(asked) == 2
    assert all((one[0], one[2]) == ("HasIngestRoute", {"Ref": "AWS::NoValue"}) for one in asked.values())
    for path, one in asked.items():
        named = {parameter["name"] for parameter in one[1]["post"]["parameters"]}
        assert named == set(re.findall(r"\{(\w+)\}", path))
    assert PARAMETERS["IngestRoute"]["Default"] == "false"


def test_api_gateway_takes_every_part_of_a_route():
    """Each part of a path passes API Gateway's check, which docs/deploying.md quotes: a variable, or a text."""
    [quoted] = re.findall(r"`\^(\S+)\$`", (ROOT / "docs" / "deploying.md").read_text())
    paths = resources()["HttpApi"]["Properties"]["Body"]["paths"]
    assert [part for path in paths for part in path.split("/") if part and not re.fullmatch(quoted, part)] == []
    assert not re.fullmatch(quoted, "{id}:redrive")


def test_a_browsers_question_needs_no_credentials():
    """With CORS a preflight reaches a route without an authorizer; without CORS there is no such route."""
    api = resources()["HttpApi"]["Properties"]["Body"]
    condition, route, otherwise = api["paths"]["/{proxy+}"]["options"]["Fn::If"]
    assert (condition, otherwise) == ("HasCors", {"Ref": "AWS::NoValue"})
    assert "security" not in route
    condition, cors, _ = api["x-amazon-apigateway-cors"]["Fn::If"]
    assert condition == "HasCors"
    document = json.loads((ROOT / "docs" / "openapi.json").read_text())
    assert set(cors["allowMethods"]) == {method.upper() for path in document["paths"].values() for method in path}
    assert PARAMETERS["CorsOrigins"]["Default"] == PARAMETERS["DomainName"]["Default"] == ""


def test_the_table_of_a_restore_takes_the_place_of_the_stacks_own():
    """Whatever uses the table uses the restored one if it is named, and the stack's own table then is no part of it."""
    assert resources()["Table"]["Condition"] == "HasOwnTable"
    text = json.dumps({name: one for name, one in resources().items() if name != "Table"})
    choices = re.sub(r'\{"Fn::If": \["HasOwnTable", (\{.*?\}), (\{.*?\})\]\}', "", text)
    assert '"Table"' not in choices
    assert "${Table" not in choices.replace("${TableName}", "")


def test_what_holds_data_stays_and_an_empty_one_goes():
    """A table or bucket of a first deployment that failed is deleted with it; later ones are kept."""
    for name in ("Table", "Exports"):
        assert resources()[name]["DeletionPolicy"] == "RetainExceptOnCreate"
        assert resources()[name]["UpdateReplacePolicy"] == "Retain"
    [layer] = [one for one in resources().values() if one["Type"] == "AWS::Lambda::LayerVersion"]
    assert layer["DeletionPolicy"] == "Delete"


@pytest.mark.parametrize("index", [None, "due", "list"])
@pytest.mark.parametrize("metric", ["ReadThrottleEvents", "WriteThrottleEvents"])
def test_throttles_are_watched_on_the_table_and_on_each_index(metric, index):
    """An index has metrics of its own."""
    watched = [one["MetricStat"]["Metric"] for one in RESOURCES["TableThrottled"]["Properties"]["Metrics"][1:]]
    named = {
        (one["MetricName"], next((d["Value"] for d in one["Dimensions"][1:]), None)): len(one["Dimensions"])
        for one in watched
    }
    assert (metric, index) in named


# ---- models


@pytest.mark.parametrize("name", ["Extract", "Consolidate"])
def test_roles_cover_every_kind_of_model_that_the_parameter_takes(name):
    """Each kind of ARN in ModelId's pattern is in the role's policy, and so are guardrails with their profiles."""
    kinds = re.search(r"\(([a-z|-]+)\)/\[A", PARAMETERS["ModelId"]["AllowedPattern"])[1].split("|")
    allowed = " ".join(str(one["Resource"]) for one in statements(name) if "bedrock" in one["Action"][0])
    assert [kind for kind in kinds if f":{kind}/*" not in allowed] == []
    assert ":guardrail/*" in allowed
    assert ":guardrail-profile/*" in allowed


@pytest.mark.parametrize(
    ("model", "is_accepted"),
    [
        ("amazon.titan-embed-text-v2:0", True),
        ("cohere.embed-v4:0", True),
        ("eu.cohere.embed-v4:0", True),
        ("arn:aws:bedrock:eu-west-1::foundation-model/amazon.titan-embed-text-v2:0", True),
        ("amazon.titan-embed-text-v1", False),
        ("arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/abc", False),
    ],
)
def test_an_embedding_model_that_no_policy_covers_is_refused(model, is_accepted):
    """What the code cannot call, or the role may not, is refused before anything is deployed."""
    assert bool(re.fullmatch(PARAMETERS["EmbeddingModelId"]["AllowedPattern"], model)) is is_accepted


@pytest.mark.parametrize(
    ("region", "model"),
    [
        ("us-east-2", "us.amazon.nova-lite-v1:0"),
        ("eu-central-1", "eu.amazon.nova-lite-v1:0"),
        ("ap-northeast-1", "apac.amazon.nova-lite-v1:0"),
        ("sa-east-1", ""),
    ],
)
def test_the_default_model_is_the_profile_of_the_region(region, model):
    """Without ModelId the inference profile of the continent is called; elsewhere no model is guessed."""
    assert PARAMETERS["ModelId"]["Default"] == ""
    assert default_model(region) == model
    assert re.fullmatch(PARAMETERS["ModelId"]["AllowedPattern"], model)


# ---- quotas and tools


def test_the_production_preset_says_what_quota_it_needs():
    """AWS keeps 100 places unreserved; the example and the guide name the sum."""
    text = (ROOT / "samconfig.example.toml").read_text()
    presets = tomllib.loads(text)
    chosen = dict(
        pair.split("=") for pair in presets["production"]["deploy"]["parameters"]["parameter_overrides"].split()
    )
    quota = 100 + int(chosen["SweepConcurrency"]) + 2 * int(chosen["GenerationConcurrency"])
    assert f"quota of {quota}" in text
    assert f"{quota}" in (ROOT / "docs" / "deploying.md").read_text()
    names = {presets[name]["global"]["parameters"]["stack_name"] for name in ("default", "production")}
    assert len(names) == 2
    assert all(presets[name]["global"]["parameters"]["region"] for name in ("default", "production"))


def test_the_file_that_sam_rewrites_is_not_tracked():
    """`sam deploy --guided` writes samconfig.toml."""
    assert "samconfig.toml" in (ROOT / ".gitignore").read_text().split()


def test_both_makefiles_look_for_python_alike(tmp_path):
    """The layer's build finds Lambda's Python as `make test-stack` does, and says so where there is none."""
    if shutil.which("make") is None:
        pytest.skip("needs make")
    root, layer = (ROOT / "Makefile").read_text(), (ROOT / "shared" / "Makefile").read_text()
    assert "include shared/python.mk" in root
    assert "include python.mk" in layer
    command = ["make", "-s", "build-SharedLayer", "PYTHON313=", f"ARTIFACTS_DIR={tmp_path}"]
    done = subprocess.run(command, cwd=ROOT / "shared", capture_output=True, text=True, check=False)
    assert done.returncode
    assert "sam build --use-container" in done.stderr
