"""The tools and the ways in which they are driven, and one run of such a way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.peers import driving, server, venvs

OURS = "streambank"
# A run takes seconds; what takes longer hangs.
_LONGEST_SECONDS = 300
# What the tools would otherwise tell their makers, and where they would keep files.
_QUIET = {
    "MEM0_TELEMETRY": "False",
    "LANGSMITH_TRACING": "false",
    "OTEL_SDK_DISABLED": "true",
    "OTEL_TRACES_EXPORTER": "none",
    "DO_NOT_TRACK": "1",
    "NO_PROXY": "*",
}


@dataclass(frozen=True, slots=True)
class Way:
    """A tool, the turns that it is given at a time, and in words how it is driven."""

    peer: str
    turns: int
    how: str

    @property
    def name(self) -> str:
        return f"{self.peer}, {self.turns} turns" if self.turns > 1 else f"{self.peer}, each turn"


WAYS = (
    Way(OURS, 10, "each turn is sent when it is over, under an event count of 20 with an overlap of 2"),
    Way(OURS, 1, "the same under an event count of 2 with an overlap of 1"),
    Way("mem0", 1, "`add` of the two messages after each turn, as its README does"),
    Way("mem0", 10, "`add` of 20 messages, which the application keeps until then"),
    Way("langmem", 1, "the store manager is invoked after each turn, as its quickstart does"),
    Way("langmem", 10, "the store manager is invoked with 20 messages, which the application keeps until then"),
    Way("strands", 1, "`agent(...)`, which saves after each turn whatever the trigger says"),
    Way("strands", 5, "`agent.invoke_async` with the default trigger, each 5 turns, and a flush at the end"),
    Way("strands", 10, "the same with a trigger each 10 turns"),
)


class Failed(Exception):
    """A tool was run and did not get to the end; the message is the last that it said."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run cost and left; *refused* are the other machines that the tool tried to reach."""

    version: str
    tally: server.Tally
    kept: tuple[str, ...]
    refused: tuple[str, ...]


def take(way: Way) -> Outcome:
    """Run *way* against a model of its own.

    Raises:
        venvs.Missing: the tool cannot be installed.
        Failed: it ended with a fault.
    """
    python = Path(sys.executable) if way.peer == OURS else venvs.python(way.peer)
    with server.running() as model, tempfile.TemporaryDirectory() as directory:
        result = _result(_output(way, python, model.url, directory))
    return Outcome(result["version"], model.tally, tuple(result["kept"]), tuple(result["refused"]))


def _output(way: Way, python: Path, url: str, directory: str) -> str:
    command = [str(python), "-m", f"benchmarks.peers.drive_{way.peer}", "--turns", str(way.turns)]
    environment = {"PATH": os.environ["PATH"], "HOME": directory, "TMPDIR": directory, driving.URL: url, **_QUIET}
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
        raise Failed(f"no end after {_LONGEST_SECONDS} s") from None
    if done.returncode:
        raise Failed((done.stderr.strip() or f"exit status {done.returncode}").splitlines()[-1])
    return done.stdout


def _result(output: str) -> dict[str, Any]:
    """Return what the driver told; the tools print as they like beside it."""
    line = next((line for line in output.splitlines() if line.startswith(driving.RESULT)), None)
    if line is None:
        raise Failed("it ended without a result")
    found: dict[str, Any] = json.loads(line.removeprefix(driving.RESULT))
    return found
