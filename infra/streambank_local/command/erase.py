"""`streambank erase`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import click

from streambank_local.command.connection import Connection, connected, scope_option


@click.command(epilog="\b\nExample:\n  streambank erase --scope user_id=ada --dry-run\n")
@connected
@scope_option()
@click.option("--user-id", help="whose sessions go too; the default is the scope's user_id if it is the only key")
@click.option("--conversation", multiple=True, help="the id of a chat history that goes too; may be repeated")
@click.option("--dry-run", is_flag=True, help="only count")
@click.option("--yes", is_flag=True, help="do not ask")
@click.option("--wait-seconds", type=float, default=600.0, show_default=True, help="how long to wait for the end")
def erase(
    connection: Connection,
    scope: dict[str, str],
    user_id: str | None,
    conversation: tuple[str, ...],
    dry_run: bool,  # noqa: FBT001
    yes: bool,  # noqa: FBT001
    wait_seconds: float,
) -> None:
    """Erase the events and the memories of a scope for good: count them, ask, and erase."""
    bank = connection.bank()
    begin = partial(bank.erase_scope, scope=scope, user_id=user_id, conversation_ids=conversation)
    counted = begin(dry_run=True).result()
    if dry_run:
        connection.write(counted.document(), ["This would erase:", *_counts(counted.would_erase)])
        return
    for line in ["This will be erased for good:", *_counts(counted.would_erase)]:
        connection.note(line)
    if not (yes or _is_confirmed()):
        raise click.ClickException("nothing was erased; --yes answers the question")
    erased = begin().result(timeout_seconds=wait_seconds)
    connection.write(erased.document(), ["Erased:", *_counts(erased.erased)])


def _is_confirmed() -> bool:
    try:
        return click.confirm("Erase it?", err=True)
    except click.Abort:  # Ctrl-C, or no more input
        click.echo(err=True)
        return False


def _counts(counts: Mapping[str, int]) -> list[str]:
    return [f"  {count:>8,}  {name}" for name, count in counts.items()] or ["  nothing"]
