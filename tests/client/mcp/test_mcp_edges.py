"""The edges of the MCP server that need no SDK: settings, log lines, the check of callers, standard input."""

from __future__ import annotations

import asyncio
import io
import logging
import os
from typing import Any

import pytest

from streambank_client.mcp import logs
from streambank_client.mcp.caller_check import CallerCheck
from streambank_client.mcp.options import settings_of
from streambank_client.mcp.settings import HttpSettings, ServerSettings, checked_settings
from streambank_client.mcp.stdin_lines import StdinLines

TOKEN = "a-token-of-callers"
SECRET = "private text"


def settings(**http: Any) -> ServerSettings:
    return ServerSettings({"user_id": "ada"}, token=SECRET, transport="http", http=HttpSettings(**http))


def test_another_host_needs_a_caller_token() -> None:
    """Only loopback is served without a token of callers."""
    for host in ("127.0.0.1", "localhost", "::1"):
        checked_settings(settings(host=host))
    for host in ("0.0.0.0", "::", "memory.example.com", ""):
        with pytest.raises(ValueError, match="needs a caller token"):
            checked_settings(settings(host=host))
        checked_settings(settings(host=host, caller_token=TOKEN))


@pytest.mark.parametrize(
    "token", ["", "short", "with space in the middle", "ünprintable-in-a-header", "line\nbreak" * 3]
)
def test_a_caller_token_can_be_sent(token: str) -> None:
    """A token is long enough, and can be in a header."""
    with pytest.raises(ValueError, match="caller token"):
        checked_settings(settings(caller_token=token))


def test_settings_hide_their_tokens() -> None:
    """Neither token is in the text of the settings."""
    text = repr(settings(caller_token=TOKEN))
    assert TOKEN not in text
    assert SECRET not in text


def test_names_of_a_host() -> None:
    """Loopback has its names and no others; another host has its own name and those that are given."""
    assert "127.0.0.1:*" in HttpSettings().allowed_hosts()
    assert "[::1]:*" in HttpSettings().allowed_hosts()
    other = HttpSettings(host="0.0.0.0", host_names=["memory.example.com"])
    assert other.allowed_hosts() == ["0.0.0.0", "0.0.0.0:*", "memory.example.com", "memory.example.com:*"]
    assert "https://memory.example.com" in other.allowed_origins()


def test_options_of_the_module() -> None:
    """The token comes from its option or its variable, and the scope from its option alone."""
    line = ["--scope", "user_id=ada", "--scope", "app=notes"]
    assert settings_of(line, {}).scope == {"user_id": "ada", "app": "notes"}
    assert settings_of(line, {"STREAMBANK_TOKEN": "sb_1"}).key() == "sb_1"
    assert settings_of([*line, "--token", "t"], {"STREAMBANK_TOKEN": "sb_1"}).bearer_token() == "t"
    for wrong in ([], ["--scope", "user_id"], [*line, "--scope", "app=other"], [*line, "--port", "65536"]):
        with pytest.raises(SystemExit):
            settings_of(wrong, {"STREAMBANK_SCOPE": "user_id=eve"})


# ---- log lines


def test_logs_quote_nobody() -> None:
    """The lines of other libraries say where they were written, and not what; an error has its kind alone."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logs.TextlessFormatter())
    for name in ("mcp.server", "uvicorn.error", logs.OWN):
        logger = logging.getLogger(name)
        logger.addHandler(handler)
        logger.propagate = False
        try:
            raise ValueError(SECRET)
        except ValueError:
            logger.exception("failed" if name == logs.OWN else f"failed: {SECRET}")
        logger.removeHandler(handler)
        logger.propagate = True
    lines = stream.getvalue().splitlines()
    assert len(lines) == 3
    assert SECRET not in stream.getvalue()
    assert all("error=ValueError" in line for line in lines)
    assert "mcp.server" in lines[0]


# ---- callers


def answer_to(headers: list[tuple[bytes, bytes]], kind: str = "http") -> tuple[bool, list[dict[str, Any]]]:
    """Return whether a request reached the application, and what was sent."""
    reached, sent = [], list[dict[str, Any]]()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        reached.append(scope)

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        raise AssertionError("the body was read")

    asyncio.run(CallerCheck(app, TOKEN)({"type": kind, "headers": headers}, receive, send))
    return bool(reached), sent


@pytest.mark.parametrize("credential", [b"Bearer " + TOKEN.encode(), b"bearer " + TOKEN.encode()])
def test_a_caller_with_the_token_passes(credential: bytes) -> None:
    """The token passes, whatever the case of its scheme."""
    assert answer_to([(b"authorization", credential)]) == (True, [])


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [(b"authorization", b"")],
        [(b"authorization", TOKEN.encode())],
        [(b"authorization", b"Basic " + TOKEN.encode())],
        [(b"authorization", b"Bearer " + TOKEN.encode() + b"x")],
        [(b"authorization", b"Bearer " + TOKEN.upper().encode())],
        [(b"authorization", b"Bearer \xff")],
        [(b"authorization", b"Bearer x"), (b"authorization", b"Bearer " + TOKEN.encode())],
        [(b"x-goog-api-key", TOKEN.encode())],
    ],
)
def test_another_caller_is_refused(headers: list[tuple[bytes, bytes]]) -> None:
    """Without the token the answer is 401, and the body is not read; a websocket is closed."""
    is_reached, sent = answer_to(headers)
    assert not is_reached
    assert sent[0]["status"] == 401
    assert not answer_to(headers, "websocket")[0]


# ---- standard input


def test_lines_of_a_pipe() -> None:
    """Lines come whole however they were written, also the last one without an end, and bytes that are no UTF-8."""
    reading, writing = os.pipe()

    async def read() -> list[str]:
        return [line async for line in StdinLines(reading)]

    for chunk in (b"on", b"e\ntwo\n", "ü".encode()[:1], "ü".encode()[1:], b"\n\xff\nlast"):
        os.write(writing, chunk)
    os.close(writing)
    assert asyncio.run(read()) == ["one\n", "two\n", "ü\n", "\ufffd\n", "last"]
    os.close(reading)


def test_waiting_for_a_line_can_be_cancelled() -> None:
    """A loop ends although nobody writes or closes the pipe."""
    reading, writing = os.pipe()

    async def read() -> None:
        async for _ in StdinLines(reading):
            raise AssertionError

    async def wait() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(read(), 0.1)

    asyncio.run(wait())
    os.close(writing)
