"""The two transports: standard input and output, and streamable HTTP."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
from contextlib import suppress
from typing import Any, cast

import anyio
import uvicorn
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings

from streambank_client.mcp.caller_check import App, CallerCheck
from streambank_client.mcp.settings import HttpSettings
from streambank_client.mcp.stdin_lines import StdinLines

PATH = "/mcp"
# A text of 8 KB whose characters are all escaped, with room for the rest of a request.
MAX_BODY_BYTES = 131_072
MAX_CONNECTIONS = 64
_SHUTDOWN_SECONDS = 3
_log = logging.getLogger(__name__)


async def serve_stdio(server: Server[Any]) -> None:
    """Serve the host that started this process, until its end of the pipe is closed.

    Raises:
        CancelledError: a signal came.
    """
    interruption = _cancel_on_signals()
    try:
        await _serve_pipes(server)
    finally:
        # While they are cancelled, tasks of the SDK may fail in other ways, which hide that a signal came.
        if interruption.is_set():
            raise asyncio.CancelledError


async def _serve_pipes(server: Server[Any]) -> None:
    # The SDK only iterates over it. It keeps everything but the protocol away from standard output.
    lines = cast("Any", StdinLines())
    try:
        async with stdio_server(stdin=lines) as (reading, writing):
            _log.info("serving transport=stdio")
            await server.run(reading, writing, server.create_initialization_options())
    except* (BrokenPipeError, ConnectionResetError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        _log.info("host_gone")


def _cancel_on_signals() -> asyncio.Event:
    """Let SIGINT and SIGTERM cancel the task that runs and set the event, where the system has such handlers."""
    task, interruption = asyncio.current_task(), asyncio.Event()

    def interrupt() -> None:
        interruption.set()
        if task:
            task.cancel()

    with suppress(NotImplementedError):
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, interrupt)
    return interruption


async def serve_http(server: Server[Any], http: HttpSettings) -> None:
    """Serve callers over HTTP until a signal comes. Raises OSError for an address that cannot be listened on."""
    with _listening(http) as listening:
        port = listening.getsockname()[1]
        _log.info("serving transport=http url=http://%s:%d%s", _bracketed(http.host), port, PATH)
        await uvicorn.Server(
            uvicorn.Config(
                http_app(server, http),
                log_config=None,
                access_log=False,
                server_header=False,
                limit_concurrency=MAX_CONNECTIONS,
                timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
            )
        ).serve(sockets=[listening])


def http_app(server: Server[Any], http: HttpSettings) -> App:
    """Return the application: the server keeps no sessions, so that callers cannot use up its memory."""
    app: Any = server.streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=MAX_BODY_BYTES,
        transport_security=TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=http.allowed_hosts(),
            allowed_origins=http.allowed_origins(),
        ),
        host=http.host,
    )
    return CallerCheck(app, http.caller_token) if http.caller_token else cast("App", app)


def _listening(http: HttpSettings) -> socket.socket:
    family = socket.AF_INET6 if ":" in http.host else socket.AF_INET
    return socket.create_server((http.host, http.port), family=family, backlog=128)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
