"""`streambank move`."""

from __future__ import annotations

import click

from streambank_local.command.connection import Connection, connected, scope_option
from streambank_local.command.transfers import WAIT, counts


@click.command(epilog="\b\nExample:\n  streambank move --scope user_id=visitor-7 --to user_id=ada\n")
@connected
@scope_option()
@scope_option("--to", "target", help="the scope that gets it all; may be repeated")
@click.option("--dry-run", is_flag=True, help="only count")
@WAIT
def move(
    connection: Connection,
    scope: dict[str, str],
    target: dict[str, str],
    dry_run: bool,  # noqa: FBT001
    wait_seconds: float,
) -> None:
    """Move the events and the memories of a scope to another scope; a repeat is safe."""
    operation = connection.bank().move_scope(scope=scope, target_scope=target, dry_run=dry_run)
    done = operation.result(timeout_seconds=wait_seconds)
    title, numbers = ("This would move:", done.would_move) if dry_run else ("Moved:", done.moved)
    connection.write(done.document(), [title, *(counts(numbers) or ["  nothing"])])
