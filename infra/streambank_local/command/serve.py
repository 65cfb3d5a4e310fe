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
@click.option("--changes-webhook", metavar="URL", help="post each change of a memory to it, signed")
@click.option("--changes-stdout", is_flag=True, help="write each change of a memory as a line of JSON")
def serve(
    port: int,
    host: str,
    data: str | None,
    auth: str | None,
    changes_webhook: str | None,
    changes_stdout: bool,  # noqa: FBT001
) -> int:
    """Run the whole service on this machine, on loopback unless --host says otherwise, until Ctrl-C."""
    options = ["--port", str(port), "--host", host]
    options += ["--data", data] if data else []
    options += ["--auth", auth] if auth else []
    options += ["--changes-webhook", changes_webhook] if changes_webhook else []
    options += ["--changes-stdout"] if changes_stdout else []
    return local.main(options, command="streambank serve")
