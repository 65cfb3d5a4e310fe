"""The tools with their setups, and the run of one setup."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.peers import drivers, server, venvs

OURS = "streambank"
# A run takes seconds; a longer one hangs.
_LONGEST_SECONDS = 300
# Switches off the tools' telemetry and proxies.
_TELEMETRY_OFF = {
    "MEM0_TELEMETRY": "False",
    "LANGSMITH_TRACING": "false",
    "OTEL_SDK_DISABLED": "true",
    "OTEL_TRACES_EXPORTER": "none",
    "DO_NOT_TRACK": "1",
    "NO_PROXY": "*",
}


@dataclass(frozen=True, slots=True)
class Setup:
    """A tool, the number of turns that it gets at a time, and a description of its calls."""

    peer: str
    turns: int
    how: str

    @property
    def name(self) -> str:
        return f"{self.peer}, {self.turns} turns" if self.turns > 1 else f"{self.peer}, each turn"


SETUPS = (
    Setup(OURS, 10, "each turn is sent when it is over, under an event count of 20 with an overlap of 2"),
    Setup(OURS, 1, "the same under an event count of 2 with an overlap of 1"),
    Setup("mem0", 1, "`add` of the two messages after each turn, as its README does"),
    Setup("mem0", 10, "`add` of 20 messages, which the application keeps until then"),
    Setup("langmem", 1, "the store manager is invoked after each turn, as its quickstart does"),
    Setup("langmem", 10, "the store manager is invoked with 20 messages, which the application keeps until then"),
    Setup("strands", 1, "`agent(...)`, which saves after each turn whatever the trigger says"),
    Setup("strands", 5, "`agent.invoke_async` with the default trigger, each 5 turns, and a flush at the end"),
    Setup("strands", 10, "the same with a trigger each 10 turns"),
)


class ToolFailed(Exception):
    """A tool's run failed; the message is the last line of its output."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The costs and the memories of a run; *refused* are the other hosts that the tool tried to reach."""

    version: str
    counts: server.RequestCounts
    memories: tuple[str, ...]
    refused: tuple[str, ...]


def run_setup(setup: Setup) -> Outcome:
    """Run *setup* against a new model.

    Raises:
        venvs.ToolMissing: the tool cannot be installed.
        ToolFailed: its run failed.
    """
    python = Path(sys.executable) if setup.peer == OURS else venvs.python(setup.peer)
    with server.running() as model, tempfile.TemporaryDirectory() as directory:
        result = _result(_output(setup, python, model.url, directory))
    return Outcome(result["version"], model.counts, tuple(result["memories"]), tuple(result["refused"]))


def _output(setup: Setup, python: Path, url: str, directory: str) -> str:
    command = [str(python), "-m", f"benchmarks.peers.drive_{setup.peer}", "--turns", str(setup.turns)]
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": directory,
        "TMPDIR": directory,
        drivers.URL: url,
        **_TELEMETRY_OFF,
    }
    environment["PYTHONPATH"] = os.pathsep.join(str(venvs.ROOT / part) for part in ("", "shared", "client", "infra"))
    try:
        done = subprocess.run(
            command,
            cwd=directory,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=_LONGEST_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise ToolFailed(f"no end after {_LONGEST_SECONDS} s") from None
    if done.returncode:
        raise ToolFailed((done.stderr.strip() or f"exit status {done.returncode}").splitlines()[-1])
    return done.stdout


def _result(output: str) -> dict[str, Any]:
    """Return the driver's result; the tools may print other lines."""
    line = next((line for line in output.splitlines() if line.startswith(drivers.RESULT)), None)
    if line is None:
        raise ToolFailed("it ended without a result")
    result: dict[str, Any] = json.loads(line.removeprefix(drivers.RESULT))
    return result
