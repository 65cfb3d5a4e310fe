"""The server from its start to its end."""

from __future__ import annotations

import asyncio
import time

from streambank_client.banks import AsyncStreambank
from streambank_client.mcp import logs, transports
from streambank_client.mcp.scoped_memories import CALL_SECONDS, ScopedMemories
from streambank_client.mcp.server import server_of
from streambank_client.mcp.settings import ServerSettings, checked_settings

ENDED = 0
INTERRUPTED = 130


def run(settings: ServerSettings) -> int:
    """Serve until the host closes its pipe (0) or a signal comes (130), and return the exit status.

    Raises:
        ValueError: the settings are not valid.
        OSError: the address of the HTTP transport cannot be listened on.
    """
    checked_settings(settings)
    logs.configure()
    try:
        asyncio.run(_serve(settings))
    except (KeyboardInterrupt, asyncio.CancelledError):
        return INTERRUPTED
    return ENDED


async def _serve(settings: ServerSettings) -> None:
    async with AsyncStreambank(
        settings.url, key=settings.key(), token=settings.bearer_token(), timeout_seconds=CALL_SECONDS
    ) as client:
        server = server_of(ScopedMemories(client.bank(settings.bank_id), dict(settings.scope), time.monotonic))
        if settings.transport == "http":
            await transports.serve_http(server, settings.http)
        else:
            await transports.serve_stdio(server)
