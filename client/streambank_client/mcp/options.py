"""The options of the command line, and the settings that they make."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence

from streambank_client.mcp.settings import DEFAULT_PORT, DEFAULT_URL, LOOPBACK, HttpSettings, ServerSettings

TOKEN_VARIABLE = "STREAMBANK_TOKEN"  # noqa: S105
CALLER_TOKEN_VARIABLE = "STREAMBANK_MCP_CALLER_TOKEN"  # noqa: S105


def settings_of(arguments: Sequence[str] | None, environment: Mapping[str, str]) -> ServerSettings:
    """Return the settings of a command line; it exits with 2 where the line is wrong."""
    parser = _parser(environment)
    given = parser.parse_args(arguments)
    if len(dict(given.scope)) < len(given.scope):
        parser.error("--scope names a key twice")
    http = HttpSettings(
        host=given.host, port=given.port, caller_token=given.caller_token, host_names=tuple(given.host_name)
    )
    return ServerSettings(
        scope=dict(given.scope),
        url=given.url,
        token=given.token,
        bank_id=given.bank,
        transport=given.transport,
        http=http,
    )


def _parser(environment: Mapping[str, str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m streambank_client.mcp",
        description="Serve the memories of one scope to a host of the Model Context Protocol.",
        allow_abbrev=False,
    )
    url, bank = environment.get("STREAMBANK_URL", DEFAULT_URL), environment.get("STREAMBANK_BANK", "default")
    parser.add_argument("--url", default=url, help="the service; or STREAMBANK_URL")
    parser.add_argument(
        "--token", default=environment.get(TOKEN_VARIABLE, "local"), help=f"an API key or a token; or {TOKEN_VARIABLE}"
    )
    parser.add_argument("--bank", default=bank, help="the bank's id; or STREAMBANK_BANK")
    parser.add_argument(
        "--scope", type=_pair, action="append", required=True, metavar="KEY=VALUE", help="whose; may be repeated"
    )
    parser.add_argument("--transport", choices=("stdio", "http"), default="stdio")
    parser.add_argument("--host", default=LOOPBACK, help="for http; another host than loopback needs a caller token")
    parser.add_argument("--port", type=_port, default=DEFAULT_PORT, help="for http; 0 is any free one")
    parser.add_argument(
        "--caller-token",
        default=environment.get(CALLER_TOKEN_VARIABLE),
        help=f"for http: the bearer token that callers must send; or {CALLER_TOKEN_VARIABLE}",
    )
    parser.add_argument(
        "--host-name", action="append", default=[], help="for http: another name that callers use for this server"
    )
    return parser


def _pair(text: str) -> tuple[str, str]:
    key, separator, value = text.partition("=")
    if not (key and separator and value):
        raise argparse.ArgumentTypeError(f"{text!r} is not like user_id=ada")
    return key, value


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= 65_535):
        raise argparse.ArgumentTypeError("must be a number from 0 to 65535")
    return int(text)
