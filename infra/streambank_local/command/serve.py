"""`streambank serve`: local mode."""

from __future__ import annotations

import click

from streambank_local import __main__ as local


@click.command(
    epilog="\b\nExamples:\n  streambank serve --data ./memory\n  streambank serve --port 8111 --auth keys\n",
)
@click.option("--port", type=click.IntRange(0, 65535), default=local.PORT, show_default=True, help="0 is any free one")
@click.option("--host", default=local.HOST, show_default=True, help="an IPv4 address; all but loopback need --auth")
@click.option(
    "--data", type=click.Path(), help="keep everything in this folder; without it all is forgotten at the end"
)
@click.option("--auth", type=click.Choice(["keys", "jwt"]), help="ask callers for API keys, or for tokens (JWT)")
def serve(port: int, host: str, data: str | None, auth: str | None) -> int:
    """Run the whole service on this machine, on loopback unless --host says otherwise, until Ctrl-C."""
    options = ["--port", str(port), "--host", host]
    options += ["--data", data] if data else []
    options += ["--auth", auth] if auth else []
    return local.main(options, command="streambank serve")
