"""`streambank export`, `streambank import` and `streambank reindex`."""

from __future__ import annotations

from collections.abc import Mapping

import click

from streambank_local.command.connection import Connection, connected, scope_option

WAIT = click.option("--wait-seconds", type=float, default=600.0, show_default=True, help="how long to wait for the end")


@click.command(epilog="\b\nExample:\n  streambank export --scope user_id=ada\n")
@connected
@scope_option(required=False)
@WAIT
def export(connection: Connection, scope: dict[str, str], wait_seconds: float) -> None:
    """Write a scope, or without --scope the bank, to the bucket of the deployment."""
    done = connection.bank().export(scope=scope or None).result(timeout_seconds=wait_seconds)
    lines = [*counts(done.exported), f"`streambank import {done.source}` reads it."]
    connection.write(done.document(), lines)


@click.command("import", epilog="\b\nExample:\n  streambank import default/export-7/manifest.json --bank other\n")
@connected
@click.argument("source")
@WAIT
def import_(connection: Connection, source: str, wait_seconds: float) -> None:
    """Read an export from the bucket of the deployment into a bank; a repeat is safe."""
    done = connection.bank().import_from(source=source).result(timeout_seconds=wait_seconds)
    connection.write(done.document(), counts(done.imported))


@click.command(epilog="\b\nExample:\n  streambank reindex --bank default")
@connected
@WAIT
def reindex(connection: Connection, wait_seconds: float) -> None:
    """Give memories new vectors after a change of the embedding model; a repeat is safe."""
    done = connection.bank().reindex().result(timeout_seconds=wait_seconds)
    numbers = {"reindexed": done.reindexed, "kept": done.kept, "failed": done.failed}
    connection.write(done.document(), counts(numbers))


def counts(numbers: Mapping[str, int]) -> list[str]:
    """Return a line for each kind of thing."""
    return [f"{number:>8,}  {name}" for name, number in numbers.items()]
