"""Runs a page of the documents: it saves the page's files, types its commands, and compares what they print."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path

import pytest

from streambank_local.command.main import main
from tests.docs.conftest import LOCAL, ROOT

NOT_RUN = re.compile(r"<!-- not run: .+? -->\n```console\n.*?^```\n", re.MULTILINE | re.DOTALL)
FENCE = re.compile(
    r"(?:Save this as `(?P<file>[\w.]+)`(?:(?!^```).)*?)?^```(?P<kind>\w+)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
MEMORY_ID = r"0[a-z0-9]{26}"
# Commands that only read are repeated until the service has done what is shown.
READING = ("streambank search", "streambank memories", "streambank why")
# A variable's value before a command.
ASSIGNMENT = re.compile(r"[A-Z_]+=")
# How long a command may take on a busy machine.
PATIENCE_SECONDS = 240


@dataclass(frozen=True)
class Command:
    """A command of a page, the lines that are typed into it, and the lines that it prints."""

    line: str
    typed: tuple[str, ...]
    printed: tuple[str, ...]


def commands(body: str) -> Iterator[Command]:
    """Yield the commands of a console block."""
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        line, *rest = part.splitlines()
        typed = tuple(one.removeprefix("> ") for one in rest if one.startswith("> "))
        yield Command(line, typed, tuple(one for one in rest if not one.startswith("> ")))


@dataclass
class Session:
    """A page that is run in *folder*, as a reader runs it, on a free port.

    *addresses* are those that stand for others in the page's commands.
    """

    folder: Path
    port: int
    addresses: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    ran: list[str] = field(default_factory=list)
    _ids: dict[str, str] = field(default_factory=dict)
    _server: subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def run(self, page: str) -> None:
        """Do what a page says, from its first block to its last, without the blocks that are marked as not run."""
        for block in FENCE.finditer(NOT_RUN.sub("", page)):
            if block["file"]:
                (self.folder / block["file"]).write_text(block["body"])
            elif block["kind"] == "console":
                for command in commands(block["body"]):
                    self._serve(command) if command.line.startswith("streambank serve") else self.type(command)

    def type(self, command: Command) -> str:
        """Run a command until it has printed what the page shows; it may take a moment until a memory is made."""
        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            status, printed = self._run(shlex.split(self._own(command.line)), command.typed)
            missing = self._missing(command.printed, printed)
            if status == 0 and missing is None:
                break
            state = (command.line, status, missing, printed)
            assert command.line.startswith(READING), state
            assert time.monotonic() < until, state
            time.sleep(1)
        self.ran.append(command.line)
        return printed

    def stop(self) -> None:
        """End the service as hard as possible."""
        if self._server:
            self._server.send_signal(signal.SIGKILL)
            self._server.communicate()
            self._server = None

    def _run(self, words: list[str], typed: Sequence[str]) -> tuple[int, str]:
        """Return the status and the output of a command; `streambank` runs in this process, which is faster."""
        text, printed = "".join(f"{line}\n" for line in typed), io.StringIO()
        if words[0] == "export":
            self.environment |= dict(word.split("=", 1) for word in words[1:])
            return 0, ""
        if words[0] == "streambank":
            with contextlib.chdir(self.folder), pytest.MonkeyPatch.context() as patch, redirect_stdout(printed):
                patch.setenv("STREAMBANK_URL", self.url)
                patch.setattr(sys, "stdin", io.StringIO(text))
                return main(words[1:]), printed.getvalue()
        variables = dict(word.split("=", 1) for word in takewhile(ASSIGNMENT.match, words))
        program, *arguments = words[len(variables) :]
        assert program == "python"
        done = subprocess.run(
            [sys.executable, *arguments],
            input=text,
            stdout=subprocess.PIPE,
            text=True,
            timeout=PATIENCE_SECONDS,
            cwd=self.folder,
            env={**self._env(), **variables},
            check=False,
        )
        return done.returncode, done.stdout

    def _serve(self, command: Command) -> None:
        """Start the service, again if it runs, and wait until it is ready."""
        self.stop()
        words = [sys.executable, "-m", "streambank_local.command", *shlex.split(command.line)[1:]]
        self._server = subprocess.Popen(
            [*words, "--port", str(self.port)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=self.folder,
            env=self._env(),
        )
        assert self._server.stdout
        printed = ""
        for one in self._server.stdout:
            printed += one
            if "ready" in one:
                break
        expected = [one.replace(LOCAL, self.url) for one in command.printed]
        assert self._missing(expected, printed) is None, printed
        self.ran.append(command.line)

    def _env(self) -> dict[str, str]:
        """Return an environment in which Python imports this checkout and programs call this service."""
        paths = os.pathsep.join(str(ROOT / name) for name in ("shared", "client", "infra", "."))
        return {**os.environ, "PYTHONPATH": paths, "STREAMBANK_URL": self.url, **self.environment}

    def _own(self, line: str) -> str:
        """Return a command with this session's ids and addresses in the place of those that the page shows."""
        for shown, address in self.addresses.items():
            line = line.replace(shown, address)
        return re.sub(MEMORY_ID, lambda match: self._ids[match[0]], line)

    def _missing(self, expected: tuple[str, ...] | list[str], printed: str) -> str | None:
        """Return the first line of the page that was not printed in its place, or None; `...` is any text."""
        rest = iter(printed.splitlines())
        for line in expected:
            pattern = re.sub(rf"\\\.\\\.\\\.|{MEMORY_ID}", self._any, re.escape(line))
            match = next(filter(None, (re.search(f"{pattern}$", one) for one in rest)), None)
            if match is None:
                return line
            self._ids.update(zip(re.findall(MEMORY_ID, line), match.groups(), strict=True))
        return None

    @staticmethod
    def _any(match: re.Match[str]) -> str:
        return ".*" if match[0].startswith("\\") else f"({MEMORY_ID})"
