"""The console as a server of this machine's loopback."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI
from nicegui import app as nicegui_app
from nicegui import ui
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from streambank_console import paths
from streambank_console.pages import memories, memory, overview, search, try_it, windows
from streambank_console.security import AsgiApp, Guard
from streambank_console.service import Service
from streambank_console.settings import HOST, ConsoleSettings

STATIC = Path(__file__).with_name("static")


def application(service: Service, port: int, bank: str) -> AsgiApp:
    """Return the console of *service* at *port*; it opens with *bank*."""

    @asynccontextmanager
    async def life(_: Any) -> Any:
        yield
        await service.close()

    async def home(_: Request) -> Response:
        return RedirectResponse(paths.overview(bank))

    outer = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, lifespan=life)
    for module in (overview, windows, memories, memory, search, try_it):
        module.add(service)
    ui.page("/")(home)
    nicegui_app.add_static_files("/static", STATIC)
    ui.run_with(outer, title="Streambank", tailwind=False, dark=None, show_welcome_message=False, storage_secret=None)
    return Guard(outer, port)


def run(settings: ConsoleSettings, ready: Callable[[str], None]) -> int:
    """Serve on loopback until interrupted; *ready* is called with the address.

    Raises:
        OSError: the port is in use.
        ValueError: the URL or the token cannot be used.
    """
    with socket.create_server((HOST, settings.port)) as listening:
        port = listening.getsockname()[1]
        app = application(Service(settings), port, settings.bank)
        # No access log: addresses hold names of users.
        config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False, lifespan="on")
        ready(f"http://{HOST}:{port}")
        uvicorn.Server(config).run(sockets=[listening])
    return 0
