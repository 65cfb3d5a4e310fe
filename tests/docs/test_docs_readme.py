"""Every command of the README is run here, or it is said why it cannot be."""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import textwrap
import venv
from pathlib import Path

import httpx
import pytest

from streambank.model.api_key import Token
from streambank_local.command.main import main
from streambank_local.service import LocalService
from tests import aws
from tests.docs.conftest import ROOT

LOCAL = "http://127.0.0.1:8080"
SDK = Path(os.environ.get("STREAMBANK_SDK_PYTHON") or ROOT / ".venv-sdk" / "bin" / "python")
# What each command begins with, and where it is run; the reason where it cannot be run here.
RUN = {
    "make demo": "test_make_runs_what_other_tests_run, tests/infra/test_demo.py",
    "make test": "test_make_runs_what_other_tests_run; this is it",
    "make run": "test_make_runs_what_other_tests_run, tests/infra/test_local_command.py",
    "curl": "test_the_first_steps",
    "pip install": "test_the_client_installs_without_aws",
    "sam build": "not without an AWS account: `make test-stack` builds the template and deploys it into an emulator",
    ".venv/bin/streambank keys": "test_a_key_is_made_as_the_readme_says",
}


def blocks() -> list[str]:
    """Return the README's indented blocks, without their indent."""
    found = re.findall(r"(?:^    .*\n|^\n(?=    ))+", (ROOT / "README.md").read_text(), re.MULTILINE)
    return [textwrap.dedent(block).strip() for block in found]


def is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def commands() -> list[str]:
    """Return the README's shell commands: what is indented and no Python, each with the lines that go on with it."""
    paragraphs = [part for block in blocks() for part in block.split("\n\n") if not is_python(part)]
    return [found for part in paragraphs for found in re.findall(r"^\S.*?(?=^\S|\Z)", part, re.MULTILINE | re.DOTALL)]


def starting(prefix: str) -> list[str]:
    return [command.split("  #")[0].strip() for command in commands() if command.startswith(prefix)]


def test_every_command_has_its_test() -> None:
    """No command stands in the README that is neither run nor excused, and none is excused that is not there."""
    unknown = [command for command in commands() if not command.startswith(tuple(RUN))]
    assert (unknown, [prefix for prefix in RUN if not starting(prefix)]) == ([], [])


@pytest.mark.parametrize(
    ("target", "module"), [("demo", "streambank_local.demo"), ("run", "streambank_local"), ("test", "pytest")]
)
def test_make_runs_what_other_tests_run(target: str, module: str) -> None:
    """The make targets of the README start the modules that tests start."""
    done = subprocess.run(["make", "--dry-run", target], cwd=ROOT, capture_output=True, text=True, check=True)
    assert f"python -m {module}" in done.stdout


def curled(service: LocalService, command: str) -> httpx.Response:
    """Send what a curl command would send."""
    words = shlex.split(command.replace("\\\n", " "))
    given = [(words[n], words[n + 1]) for n in range(len(words) - 1)]
    headers = dict(value.split(": ", 1) for flag, value in given if flag == "-H")
    url = next(word for word in words if word.startswith("http")).replace(LOCAL, service.base_url)
    return httpx.post(url, content=next(value for flag, value in given if flag == "-d"), headers=headers, timeout=60)


def test_the_first_steps(service: LocalService) -> None:
    """Two events, the same again, five minutes at once, a question: as the README tells it."""
    say, wait, ask = starting("curl")
    first, again = curled(service, say), curled(service, say)
    told = [reply.json()["metadata"] for reply in (first, again)]
    assert [(one["acceptedEvents"], one["duplicateEvents"]) for one in told] == [(2, 0), (0, 2)]
    assert first.json()["name"] == again.json()["name"]
    assert curled(service, wait).is_success
    service.wait_until_idle()
    (found,) = curled(service, ask).json()["retrievedMemories"]
    assert "blue" in found["memory"]["fact"]


def test_the_client_example(service: LocalService) -> None:
    """The client's example runs as it stands, and prints what was said."""
    (code,) = [block for block in blocks() if "from streambank_client" in block]
    code = code[code.index("from streambank") :].replace(LOCAL, service.base_url)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "cello" in done.stdout


def test_a_key_is_made_as_the_readme_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command prints a token, with the table's name in the place of TABLE."""
    (command,) = starting(".venv/bin/streambank keys")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    printed = io.StringIO()
    with aws.dynamodb(), contextlib.redirect_stdout(printed):
        assert main(command.replace("TABLE", aws.TABLE).replace("REGION", "us-east-1").split()[1:]) == 0
    assert Token.parse(printed.getvalue().strip())


@pytest.mark.slow
@pytest.mark.skipif(not SDK.exists(), reason="no Python with Google's SDK: STREAMBANK_SDK_PYTHON, .venv-sdk")
def test_the_sdk_works_with_one_line_changed(service: LocalService) -> None:
    """Google's client, made as the README says, lists memories of the local service."""
    (made,) = [block for block in blocks() if block.startswith("client = agentplatform")]
    bank = "projects/p/locations/l/reasoningEngines/default"
    code = f"import agentplatform, google.oauth2.credentials\n{made}\n"
    code += f"print(list(client.memory_banks.memories.list(name={bank!r})))\n"
    code = code.replace(LOCAL, service.base_url)
    done = subprocess.run([str(SDK), "-c", code], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("[")


@pytest.mark.slow
def test_the_client_installs_without_aws(tmp_path: Path) -> None:
    """In an empty environment the README's command brings the client, and nothing of AWS."""
    (command,) = starting("pip install")
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    words = [str(python), "-m", *shlex.split(command), "--quiet", "--disable-pip-version-check"]
    subprocess.run(words, cwd=clone, check=True)
    code = "import importlib.util, streambank_client; print(importlib.util.find_spec('boto3'))"
    done = subprocess.run([str(python), "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "None\n"
