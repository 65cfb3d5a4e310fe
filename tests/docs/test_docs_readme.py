"""Every command and every program of the README is run here, or it is said which test runs it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from streambank_local.command.main import cli
from streambank_local.service import LocalService
from tests.docs.conftest import LOCAL, ROOT, indented_blocks, python_blocks
from tests.dry_make import MAKE_VARIABLES

PAGE = (ROOT / "README.md").read_text()
SDK = Path(os.environ.get("STREAMBANK_SDK_PYTHON") or ROOT / ".venv-sdk" / "bin" / "python")
# What each command begins with, and the test that runs it.
RUN = {
    "make demo": "test_make_runs_what_other_tests_run, tests/infra/test_demo.py",
    "make test": "test_make_runs_what_other_tests_run; this is it",
    "make run": "test_make_runs_what_other_tests_run, tests/infra/test_local_command.py",
    ".venv/bin/streambank serve": "test_serve_has_the_options_of_the_readme, test_docs_tutorial.py",
}


def commands() -> list[str]:
    return [line for block in indented_blocks(PAGE) for line in block.splitlines() if line]


def test_every_command_has_its_test() -> None:
    """No command stands in the README that no test runs, and no test is named for a command that is not there."""
    unknown = [command for command in commands() if not command.startswith(tuple(RUN))]
    missing = [prefix for prefix in RUN if not any(command.startswith(prefix) for command in commands())]
    assert (unknown, missing) == ([], [])


@pytest.mark.parametrize(
    ("target", "module"), [("demo", "streambank_local.demo"), ("run", "streambank_local"), ("test", "pytest")]
)
def test_make_runs_what_other_tests_run(target: str, module: str) -> None:
    """The make targets of the README start the modules that tests start."""
    make = ["make", "--dry-run", target, *MAKE_VARIABLES]
    done = subprocess.run(make, cwd=ROOT, capture_output=True, text=True, check=True)
    assert f"python -m {module}" in done.stdout


def test_serve_has_the_options_of_the_readme() -> None:
    """The command `streambank serve` takes the options that the README gives it."""
    (command,) = [command for command in commands() if "streambank serve" in command]
    known = {option for parameter in cli.commands["serve"].params for option in parameter.opts}
    assert set(re.findall(r"--\w+", command)) <= known


def program(line: str) -> str:
    (code,) = [block for block in python_blocks(PAGE) if line in block]
    return code


def test_the_first_agent(service: LocalService) -> None:
    """The first agent runs, and knows in its second turn what it was told in the first one.

    It runs as it stands, for a user that no other page has.
    """
    code = program("def ask_model").replace(LOCAL, service.base_url).replace('"ada"', '"first-agent"')
    assert '"first-agent"' in code
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first == "I know: nothing yet."
    assert "allergic to peanuts" in second


@pytest.mark.slow
@pytest.mark.skipif(not SDK.exists(), reason="no Python with Google's SDK: STREAMBANK_SDK_PYTHON, .venv-sdk")
def test_the_sdk_works_with_another_base_url(service: LocalService) -> None:
    """Google's client, made as the README says, lists memories of the local service."""
    with_memory = textwrap.dedent("""
        client.memory_banks.memories.create(name=bank, fact="I keep bees.", scope={"user_id": "sdk"})
        for memory""")
    code = program("import agentplatform").replace(LOCAL, service.base_url).replace("\nfor memory", with_memory)
    done = subprocess.run([str(SDK), "-c", code], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert "I keep bees." in done.stdout.splitlines()
