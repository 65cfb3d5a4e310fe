"""Programs that run with the packages of the frameworks, which are not in the environment of the tests."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any, Self

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(__file__).parent
PYTHON = Path(os.environ.get("STREAMBANK_FRAMEWORKS_PYTHON") or ROOT / ".venv-frameworks" / "bin" / "python")
needs_frameworks = pytest.mark.skipif(
    not PYTHON.exists(), reason="no Python with the frameworks: STREAMBANK_FRAMEWORKS_PYTHON, .venv-frameworks"
)


def page_block(page: str) -> str:
    """Return the one program of a page that is not from an example."""
    text = (ROOT / "docs" / page).read_text()
    own = re.sub(r"<!-- from \w+\.py -->\n\n```python\n.*?```", "", text, flags=re.DOTALL)
    [block] = re.findall(r"```python\n(.*?)```", own, re.DOTALL)
    return str(block)


def environment(**more: str) -> dict[str, str]:
    """Return an environment in which programs import the client of this tree."""
    return {**os.environ, "PYTHONPATH": str(ROOT / "client"), "LANGSMITH_TRACING": "false", **more}


def run_program(path: Path, *arguments: str, **more: str) -> str:
    """Run a program to its end, and return what it prints; it must end well."""
    done = subprocess.run(
        [str(PYTHON), str(path), *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=environment(**more),
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


class Program:
    """A program that answers each line of JSON with one."""

    def __init__(self, name: str, *arguments: str) -> None:
        command = [str(PYTHON), str(PROGRAMS / name), *arguments]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment()
        )

    def ask(self, request: Any) -> Any:
        """Send a request and return the answer."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "the program has ended"
        return json.loads(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.wait(timeout=30)
        self._process.stdout.close()


def run_example(name: str, url: str) -> list[str]:
    """Run an example of the documentation against a service, and return the lines that it prints."""
    path = ROOT / "docs" / "examples" / name
    return run_program(path, STREAMBANK_URL=url, STREAMBANK_TOKEN="local").splitlines()
