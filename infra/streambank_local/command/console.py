"""`streambank console`: pages in a browser that show a service from events to memories."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

import click

from streambank_console.settings import PORT, ConsoleSettings
from streambank_local.command.connection import DEFAULT_URL

_INSTALL = 'the package {} is missing; install it with: pip install "streambank[console]" streambank-client'


@click.command(
    epilog="\b\nExamples:\n  streambank console --local\n  streambank console --url https://... --token KEY\n",
)
@click.option("--url", envvar="STREAMBANK_URL", default=DEFAULT_URL, show_default=True, help="the service")
@click.option("--token", envvar="STREAMBANK_TOKEN", default="local", help="an API key or a token")
@click.option("--bank", envvar="STREAMBANK_BANK", default="default", show_default=True, help="the bank that it opens")
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="0 is any free one")
@click.option("--local", is_flag=True, help="start local mode too, at --url")
@click.option("--data", type=click.Path(), help="with --local: keep everything in this folder")
def console(url: str, token: str, bank: str, port: int, local: bool, data: str | None) -> int:  # noqa: FBT001
    """Show a service in a browser on this machine: what was said, what is remembered of it, and why."""
    if data and not local:
        raise click.UsageError("--data needs --local.")
    try:
        # Imported here: it needs NiceGUI, which the other commands do not.
        from streambank_console.server import run  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("streambank"):
            raise
        raise click.ClickException(_INSTALL.format(error.name)) from None
    with ExitStack() as running:
        if local:
            url, token = running.enter_context(_local_mode(urlsplit(url).port or 8080, data)), "local"
        return run(ConsoleSettings(url=url, token=token, bank=bank, port=port), _tell)


def _tell(address: str) -> None:
    print(f"The console is at {address}. Ctrl-C stops it.", flush=True)


@contextmanager
def _local_mode(port: int, data: str | None) -> Iterator[str]:
    """Run local mode in a process of its own, and return its URL once it is ready."""
    options = ["--port", str(port), *(["--data", data] if data else [])]
    command = [sys.executable, "-m", "streambank_local", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603  this Python
        try:
            for line in process.stdout or ():
                print(line, end="", flush=True)
                if "is ready on" in line:
                    break
            else:
                raise click.ClickException("Local mode could not be started.")
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
