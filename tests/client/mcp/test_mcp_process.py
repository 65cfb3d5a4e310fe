"""The MCP server byte by byte: what it writes, how it ends, and whom it refuses over HTTP."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from streambank_local.service import LocalService
from tests.client.mcp.hosts import (
    CALLER_TOKEN,
    ENVIRONMENT,
    NEEDS_SDK,
    ROOT,
    host,
    http_server,
    killed_after,
    server_command,
)

pytestmark = [NEEDS_SDK, pytest.mark.slow]


@pytest.fixture(scope="module")
def service() -> Iterator[LocalService]:
    with LocalService(timer_enabled=False) as service:
        yield service


# ---- stdio, byte by byte

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "raw", "version": "1"},
    },
}
PRIVATE = "I-hide-this-text"


@contextmanager
def raw_server(url: str, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        server_command(url, *options, user="raw"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
    )
    with process, killed_after(process, 60):
        yield process


def begin(process: subprocess.Popen[bytes]) -> None:
    """Do the handshake."""
    assert process.stdin
    assert process.stdout
    process.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["result"]["serverInfo"]["name"] == "streambank"
    process.stdin.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
    process.stdin.flush()


def test_nothing_but_the_protocol_on_stdout(service: LocalService) -> None:
    """Whatever comes in, only the protocol goes out, the log has no text and no token, and EOF ends it."""
    recall = {"name": "recall", "arguments": {"query": PRIVATE}}
    lines = [
        b"no json",
        b"[]",
        b"{}",
        b"\xff\xfe",
        PRIVATE.encode(),
        b'{"jsonrpc": "2.0", "id": 2, "method": "' + PRIVATE.encode() + b'"}',
        b'{"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": 7, "arguments": "'
        + PRIVATE.encode()
        + b'"}}',
        b'{"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {"name": "\\ud800"}}',
        b"[" * 10_000,
        json.dumps({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": recall}).encode(),
    ]
    with raw_server(service.base_url, "--token", "local") as process:
        begin(process)
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdin.write(b"\n".join([*lines, b""]))
        process.stdin.flush()
        replies: list[Any] = []
        while not any(reply.get("id") == 5 for reply in replies):
            replies.append(json.loads(process.stdout.readline()))
        process.stdin.close()
        assert process.wait(20) == 0
        log = process.stderr.read().decode()
        assert process.stdout.read() == b""
    assert all(reply["jsonrpc"] == "2.0" for reply in replies)
    assert "tool_called tool=recall outcome=ok" in log
    assert PRIVATE not in log
    assert "local" not in log
    assert "Traceback" not in log


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_signal_ends_it(service: LocalService, tmp_path: Path, number: int, transport: str) -> None:
    """A signal ends the server at once, without a traceback, although its input is still open and has more requests."""
    if transport == "http":
        with http_server(service.base_url, tmp_path, user="raw") as (_, process):
            process.send_signal(number)
            assert process.wait(20) == 130
        assert "Traceback" not in (tmp_path / "server.log").read_text()
        return
    with raw_server(service.base_url) as process:
        begin(process)
        assert process.stdin
        process.stdin.write(b'{"jsonrpc": "2.0", "id": 7, "method": "ping"}\n' * 200)
        process.stdin.flush()
        process.send_signal(number)
        status = process.wait(20)
        assert process.stderr
        assert (status, "Traceback" in process.stderr.read().decode()) == (130, False)


def test_a_host_that_goes_away_ends_it(service: LocalService) -> None:
    """A host that closes its end of the output ends the server, without a traceback."""
    with raw_server(service.base_url) as process:
        begin(process)
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        process.stdin.write(b'{"jsonrpc": "2.0", "id": 2, "method": "ping"}\n')
        process.stdin.flush()
        assert process.wait(20) == 0
        assert b"Traceback" not in process.stderr.read()


# ---- HTTP, header by header


def test_callers_over_http(service: LocalService, tmp_path: Path) -> None:
    """A caller without the token, by another name, from another page or with too long a body is refused."""
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    right = {"authorization": f"Bearer {CALLER_TOKEN}", "accept": "application/json, text/event-stream"}
    with http_server(service.base_url, tmp_path, "--caller-token", CALLER_TOKEN, user="raw") as (url, _):
        for headers, status in (
            (right, 200),
            (right | {"origin": "http://localhost:3000"}, 200),
            (right | {"authorization": "Bearer another-token-of-callers"}, 401),
            ({"accept": right["accept"]}, 401),
            (right | {"host": "evil.example.com"}, 421),
            (right | {"host": "127.0.0.1.evil.example.com"}, 421),
            (right | {"origin": "https://evil.example.com"}, 403),
            (right | {"origin": "null"}, 403),
        ):
            assert httpx.post(url, json=ping, headers=headers).status_code == status, headers
        assert httpx.post(url, json=ping | {"more": "x" * 200_000}, headers=right).status_code == 413
        assert httpx.get(url.replace("/mcp", "/other")).status_code == 401
    log = (tmp_path / "server.log").read_text()
    assert CALLER_TOKEN not in log
    assert "Traceback" not in log


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--host", "0.0.0.0"), "needs a caller token"),
        (("--host", "0.0.0.0", "--caller-token", "short"), "at least 16"),
        (("--host", "192.0.2.1", "--caller-token", CALLER_TOKEN), "assign"),
    ],
)
def test_what_cannot_be_served(options: tuple[str, ...], problem: str) -> None:
    """An address that may not or cannot be served is one line and an exit status, without the token."""
    command = server_command("http://127.0.0.1:1", "--transport", "http", "--port", "0", *options, user="raw")
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=ENVIRONMENT)
    assert (done.returncode, done.stdout) == (1, "")
    assert problem in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert CALLER_TOKEN not in done.stderr


def test_the_command_of_the_service(service: LocalService, tmp_path: Path) -> None:
    """`streambank mcp` is the same server."""
    path = ":".join(str(ROOT / name) for name in ("shared", "client", "infra", ""))
    command = [
        sys.executable,
        "-m",
        "streambank_local.command",
        "mcp",
        "--url",
        service.base_url,
        "--scope",
        "user_id=command",
    ]
    if subprocess.run([sys.executable, "-c", "import mcp"], check=False, capture_output=True).returncode:
        pytest.skip("no package mcp beside the service")
    with host(tmp_path, command=command, env=ENVIRONMENT | {"PYTHONPATH": path}) as client:
        client.text("remember", text="I live in Graz.")
        assert "I live in Graz" in client.text("recall", query="town")
