"""MCP servers and hosts as processes, in the Python that has the SDK."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
_FRAMEWORKS = Path(os.environ.get("STREAMBANK_FRAMEWORKS_PYTHON") or ROOT / ".venv-frameworks" / "bin" / "python")
PYTHON = str(_FRAMEWORKS) if _FRAMEWORKS.exists() else sys.executable
NEEDS_SDK = pytest.mark.skipif(
    not _FRAMEWORKS.exists() and importlib.util.find_spec("mcp") is None,
    reason="no Python with the SDK: STREAMBANK_FRAMEWORKS_PYTHON, .venv-frameworks, or mcp in .venv",
)
CALLER_TOKEN = "a-token-of-callers"
ENVIRONMENT = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "client"), "STREAMBANK_TOKEN": "local"}
_PATIENCE_SECONDS = 150


def server_command(url: str, *options: str, user: str) -> list[str]:
    return [PYTHON, "-m", "streambank_client.mcp", "--url", url, "--scope", f"user_id={user}", *options]


@dataclass
class Host:
    """A running host, which takes one step after the other."""

    process: subprocess.Popen[str]
    errors: Path

    def take(self, **step: Any) -> Any:
        """Take a step and return what came of it."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps(step) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, self.errors.read_text()
        return json.loads(line)

    def call(self, tool: str, **arguments: Any) -> Any:
        return self.take(tool=tool, arguments=arguments)

    def text(self, tool: str, **arguments: Any) -> str:
        """Call a tool that must succeed, and return its text."""
        result = self.call(tool, **arguments)
        assert result.get("is_error") is False, result
        return str(result["text"])


@contextmanager
def host(folder: Path, **config: Any) -> Iterator[Host]:
    """Run a host; it ends well when its input ends, and its server with it."""
    log = folder / "host.log"
    command = [PYTHON, str(Path(__file__).with_name("sdk_host.py")), json.dumps(config)]
    with log.open("w") as errors:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, env=ENVIRONMENT
        )
    with process, killed_after(process, _PATIENCE_SECONDS):
        yield Host(process, log)
        assert process.stdin
        process.stdin.close()
        assert process.wait(_PATIENCE_SECONDS) == 0, log.read_text()


@contextmanager
def killed_after(process: subprocess.Popen[Any], seconds: float) -> Iterator[None]:
    """Kill a process that is still there at the end, or after *seconds*, so that no test waits for ever."""
    timer = threading.Timer(seconds, process.kill)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        if process.poll() is None:
            process.kill()


@contextmanager
def http_server(url: str, folder: Path, *options: str, user: str) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Run a server over HTTP, and return its URL and its process."""
    log = folder / "server.log"
    command = server_command(url, "--transport", "http", "--port", "0", *options, user=user)
    with log.open("w") as errors:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, env=ENVIRONMENT
        )
    with process, killed_after(process, 2 * _PATIENCE_SECONDS):
        yield url_of(log, process), process


def url_of(log: Path, process: subprocess.Popen[bytes]) -> str:
    """Wait until the server has written its URL."""
    waiting = threading.Event()
    for _ in range(600):
        match = re.search(r"url=(http\S+)", log.read_text())
        if match:
            return match[1]
        assert process.poll() is None, log.read_text()
        waiting.wait(0.05)
    raise AssertionError(log.read_text())
