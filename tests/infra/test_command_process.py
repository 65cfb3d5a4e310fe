"""The command `streambank` as a process: how it starts, and where its output goes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from streambank_local.command.main import main

ROOT = Path(__file__).resolve().parents[2]
PATHS = os.pathsep.join(str(ROOT / folder) for folder in ("infra", "shared", "client"))
# Output is buffered, as it is for a user.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}

INTERRUPTING = """
class Interrupting:
    def find_spec(self, name, *_):
        if name == "click":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupting())
"""


def run(*command: str) -> subprocess.CompletedProcess[str]:
    environment = {**ENVIRONMENT, "PYTHONPATH": PATHS}
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)


def start(preparation: str) -> subprocess.CompletedProcess[str]:
    """Start the command in a process that runs *preparation* first."""
    program = f"import sys; {preparation}\nfrom streambank_local.command.entry import main\nsys.exit(main())"
    return run(sys.executable, "-c", program)


@pytest.mark.parametrize("missing", ["click", "streambank_client"])
def test_a_missing_package_is_one_line(missing: str) -> None:
    """Where a package is not installed, the command names it and how to install it."""
    ran = start(f"sys.modules[{missing!r}] = None")
    assert (ran.returncode, ran.stdout) == (1, "")
    assert f"the package {missing}" in ran.stderr
    assert ran.stderr.count("\n") == 1


def test_ctrl_c_while_it_starts_is_one_line() -> None:
    """Ctrl-C while modules are imported is the same line as later."""
    ran = start(INTERRUPTING)
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", "streambank: interrupted\n")


@pytest.mark.parametrize(
    ("redirection", "message"),
    [("> /dev/full", "streambank: [Errno 28] No space left on device\n"), ("| true", "")],
    ids=["full disk", "closed pipe"],
)
def test_output_that_cannot_be_written_is_no_traceback(redirection: str, message: str) -> None:
    """A full disk is one line and a failure; a reader that closes the pipe needs no line."""
    ran = run("sh", "-c", f'"$0" -m streambank_local.command --help {redirection}', sys.executable)
    assert (ran.returncode, ran.stdout, ran.stderr) == (1 if message else 0, "", message)


@pytest.mark.parametrize("arguments", [[], ["keys"]])
def test_without_a_command_the_help_keeps_its_lines(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    """The name of a group alone prints its help on standard error, as it is with --help."""
    assert main([*arguments, "--help"]) == 0
    expected = capsys.readouterr().out
    assert main(arguments) == 2
    assert tuple(capsys.readouterr()) == ("", expected)
