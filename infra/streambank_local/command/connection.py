"""The service that a command talks to, and how the command writes its result."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar

import click

from streambank_client import Bank, Streambank
from streambank_client.errors import ConnectionLost

F = TypeVar("F", bound=Callable[..., Any])
DEFAULT_URL = "http://127.0.0.1:8080"
# An API key begins with this; every other credential is a token.
_KEY_PREFIX = "sb_"


@dataclass(frozen=True, slots=True)
class Connection:
    """The options that each command takes."""

    url: str
    token: str
    bank_id: str
    is_json: bool

    def client(self) -> Streambank:
        """Return a client of the service, open until the command ends.

        Raises:
            click.UsageError: the URL or the token is not valid.
        """
        is_key = self.token.startswith(_KEY_PREFIX)
        try:
            client = Streambank(self.url, key=self.token) if is_key else Streambank(self.url, token=self.token)
        except ValueError as error:
            raise click.UsageError(f"--url {self.url} or --token cannot be used: {error}.") from None
        return click.get_current_context().with_resource(client)

    def bank(self) -> Bank:
        """Return the bank. Raises click.UsageError as `client` does."""
        try:
            return self.client().bank(self.bank_id)
        except ValueError as error:
            raise click.UsageError(f"--bank {self.bank_id}: {error}.") from None

    def write(self, document: Any, lines: Iterable[str]) -> None:
        """Write *document* as one line of JSON with --json, else *lines*."""
        if self.is_json:
            print(json.dumps(document, ensure_ascii=False, default=str))
            return
        for line in lines:
            print(line)

    def note(self, text: str) -> None:
        """Write a line for a person, which is no part of the result."""
        print(text, file=sys.stderr, flush=True)


def connected(function: F) -> F:
    """Give a command the options of a connection, and the `Connection` as its first argument."""

    @click.option("--url", envvar="STREAMBANK_URL", default=DEFAULT_URL, show_default=True, help="the service")
    @click.option("--token", envvar="STREAMBANK_TOKEN", default="local", help="an API key or a token")
    @click.option("--bank", envvar="STREAMBANK_BANK", default="default", show_default=True, help="the bank's id")
    @click.option("--json", "is_json", is_flag=True, help="write one JSON document")
    @wraps(function)
    def command(url: str, token: str, bank: str, is_json: bool, **arguments: Any) -> Any:  # noqa: FBT001
        try:
            return function(Connection(url, token, bank, is_json), **arguments)
        except ConnectionLost as error:
            cure = "Is it running? `streambank serve` starts one on this machine."
            raise click.ClickException(f"{url} cannot be reached: {error}. {cure}") from None

    return command  # type: ignore[return-value]


class ScopePair(click.ParamType[tuple[str, str]]):
    """One `key=value` of a scope."""

    name = "key=value"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        key, separator, content = str(value).partition("=")
        if not (key and separator and content):
            self.fail(f"{value!r} is not like user_id=ada", param, ctx)
        return key, content


class WholeScope(click.ParamType[dict[str, str]]):
    """A whole scope in one option: its pairs with commas between them."""

    name = "scope"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, str]:
        if isinstance(value, dict):
            return value
        pairs = [ScopePair().convert(one, param, ctx) for one in str(value).split(",")]
        if len(dict(pairs)) < len(pairs):
            self.fail(f"{value!r} names a key twice", param, ctx)
        return dict(pairs)


def _to_scope(_: click.Context, parameter: click.Parameter, pairs: tuple[tuple[str, str], ...]) -> dict[str, str]:
    if len(dict(pairs)) < len(pairs):
        raise click.BadParameter("names a key twice", param=parameter)
    return dict(pairs)


def scope_option(
    *names: str,
    required: bool = True,
    help: str = "whose; may be repeated",  # noqa: A002
) -> Callable[[F], F]:
    """Return the option --scope, or one with other *names*, which may be repeated, as a dict."""
    return click.option(
        *(names or ("--scope",)), type=ScopePair(), multiple=True, required=required, callback=_to_scope, help=help
    )
