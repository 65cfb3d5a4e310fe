"""`streambank mcp`: a server of the Model Context Protocol for the memories of one scope."""

from __future__ import annotations

import click

from streambank_client.mcp.__main__ import MISSING
from streambank_client.mcp.options import CALLER_TOKEN_VARIABLE
from streambank_client.mcp.settings import DEFAULT_PORT, LOOPBACK, HttpSettings, ServerSettings, Transport
from streambank_local.command.connection import Connection, connected, scope_option


@click.command(
    epilog="\b\nExamples:\n  streambank mcp --scope user_id=ada\n"
    "  streambank mcp --scope user_id=ada --transport http --port 8091\n",
)
@connected
@scope_option()
@click.option("--transport", type=click.Choice(["stdio", "http"]), default="stdio", show_default=True)
@click.option("--host", default=LOOPBACK, show_default=True, help="for http; another one needs --caller-token")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=DEFAULT_PORT, show_default=True, help="for http; 0 is any free one"
)
@click.option("--caller-token", envvar=CALLER_TOKEN_VARIABLE, help="for http: the bearer token that callers must send")
@click.option("--host-name", multiple=True, help="for http: another name that callers use for this server")
def mcp(
    connection: Connection,
    scope: dict[str, str],
    transport: Transport,
    host: str,
    port: int,
    caller_token: str | None,
    host_name: tuple[str, ...],
) -> int:
    """Serve the memories of a scope to an MCP host, such as Claude Desktop or Cursor."""
    try:
        # Imported here: it needs the package `mcp`, which the other commands do not.
        from streambank_client.mcp.running import run  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("streambank_client"):
            raise
        raise click.ClickException(MISSING.format(error.name)) from None
    http = HttpSettings(host=host, port=port, caller_token=caller_token, host_names=host_name)
    return run(ServerSettings(scope, connection.url, connection.token, connection.bank_id, transport, http))
