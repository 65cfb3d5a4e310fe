"""`streambank changes`."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator

import click

from streambank_client.types import MemoryChange, MemoryChanges
from streambank_local.command.connection import Connection, connected, scope_option

_POLL_SECONDS = 1.0
_LARGEST_PAGE = 1_000


@click.command(epilog="\b\nExamples:\n  streambank changes --scope user_id=ada\n  streambank changes --follow\n")
@connected
@scope_option(required=False)
@click.option("--page-token", help="go on after the page that returned this token")
@click.option("--limit", type=click.IntRange(1), default=100, show_default=True, help="at most this many")
@click.option("--follow", is_flag=True, help="write changes as they come, without a limit, until Ctrl-C")
def changes(connection: Connection, scope: dict[str, str], page_token: str | None, limit: int, follow: bool) -> None:  # noqa: FBT001
    """List what happened to memories, oldest first; without --scope of the whole bank."""
    if follow:
        for page in _pages(connection, scope, page_token, None):
            for one in page.changes:
                connection.write(one.document(), [_line(one, with_scope=not scope)])
            sys.stdout.flush()
        return
    pages = list(_pages(connection, scope, page_token, limit))
    listed, token = [one for page in pages for one in page.changes], pages[-1].next_page_token
    lines = [_line(one, with_scope=not scope) for one in listed] or ["There are no changes."]
    connection.write({"changes": [one.document() for one in listed], "nextPageToken": token}, lines)
    if not connection.is_json:
        connection.note(f"to go on: --page-token {token}")


def _pages(
    connection: Connection, scope: dict[str, str], token: str | None, limit: int | None
) -> Iterator[MemoryChanges]:
    """Yield pages of *limit* changes together, or fewer if there are no more; without a limit wait for more."""
    bank, left = connection.bank(), limit or _LARGEST_PAGE
    chosen = f"scope={_quoted(_quoted(scope))}" if scope else None
    while left:
        page = bank.list_changes(filter=chosen, page_size=min(left, _LARGEST_PAGE), page_token=token)
        is_last = not page.changes and page.next_page_token == token
        yield page
        token = page.next_page_token
        if limit is not None:
            left = 0 if is_last else left - len(page.changes)
        elif is_last:
            time.sleep(_POLL_SECONDS)


def _quoted(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _line(one: MemoryChange, *, with_scope: bool) -> str:
    owner = "  " + ",".join(f"{key}={value}" for key, value in one.scope.items()) if with_scope else ""
    memory = one.memory.rsplit("/", 1)[-1] if one.memory else "the whole scope"
    return f"{one.change_time:%Y-%m-%d %H:%M:%S}  {one.kind:8}{owner}  {memory}"
