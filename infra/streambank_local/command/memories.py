"""`streambank memories`, `search`, `forget`, `pin` and `unpin`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import islice
from typing import Any

import click

from streambank_client.formats.memory_block import dated_fact
from streambank_client.types import Memory, RetrievedMemory
from streambank_local.command.connection import Connection, WholeScope, connected, scope_option

INSTANT = click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S%z"])


@click.command(epilog="\b\nExample:\n  streambank memories --scope user_id=ada\n")
@connected
@scope_option(required=False)
@click.option("--limit", type=click.IntRange(1), default=100, show_default=True, help="at most this many")
def memories(connection: Connection, scope: dict[str, str], limit: int) -> None:
    """List the memories of a scope, or without --scope those of the bank, newest first."""
    bank = connection.bank()
    if scope:
        page = [one.memory for one in islice(bank.retrieve_all_memories(scope=scope), limit)]
    else:
        page = list(islice(bank.list_memories(page_size=min(limit, 1_000)), limit))
    lines = [_line(one, with_scope=not scope) for one in page] or ["There are no memories yet."]
    connection.write({"memories": [one.document() for one in page]}, lines)


@click.command(epilog='\b\nExample:\n  streambank search "Where do I live?" --scope user_id=ada\n')
@connected
@scope_option()
@click.option("--also", type=WholeScope(), multiple=True, help="another scope, as user_id=ada,app=notes; up to four")
@click.option("--top-k", type=click.IntRange(1, 100), default=5, show_default=True, help="at most this many")
@click.option("--pending/--no-pending", default=True, show_default=True, help="also events that wait for a generation")
@click.option("--as-of", type=INSTANT, help="what was true then, in UTC")
@click.option("--known-as-of", type=INSTANT, help="what the service had learnt by then, in UTC")
@click.argument("query")
def search(
    connection: Connection,
    scope: dict[str, str],
    also: tuple[dict[str, str], ...],
    top_k: int,
    pending: bool,  # noqa: FBT001
    as_of: datetime | None,
    known_as_of: datetime | None,
    query: str,
) -> None:
    """Search the memories of a scope, or with --also of some; the nearest come first."""
    retrieved = connection.bank().retrieve_memories(
        scopes=[scope, *also],
        query=query,
        top_k=top_k,
        include_pending=pending,
        as_of=_utc(as_of),
        known_as_of=_utc(known_as_of),
    )
    lines = [_distance_line(one, with_scope=bool(also)) for one in retrieved]
    lines += [f"{'pending':>8}  {one.event.content.text}" for one in retrieved.events]
    document: dict[str, Any] = {
        "retrievedMemories": [one.document() for one in retrieved],
        "retrievedEvents": [one.document() for one in retrieved.events],
    }
    if retrieved.history_start_time:
        document["historyStartTime"] = retrieved.history_start_time.isoformat()
        lines.append(f"          the history is whole from {retrieved.history_start_time:%Y-%m-%d %H:%M} on")
    connection.write(document, lines or ["Nothing was recalled."])


@click.command(epilog="\b\nExample:\n  streambank forget MEMORY_ID\n")
@connected
@click.argument("memory", nargs=-1, required=True)
def forget(connection: Connection, memory: tuple[str, ...]) -> None:
    """Delete memories by their ids; a rollback brings each back for 48 hours.

    What was said before will not bring them back. `streambank erase` deletes the events too.
    """
    bank, deleted = connection.bank(), list[Memory]()
    for one in memory:
        deleted.append(bank.get_memory(memory=one))
        bank.delete_memory(memory=one)
    connection.write({"deleted": [one.name for one in deleted]}, [f"deleted   {one.fact}" for one in deleted])


@click.command(epilog="\b\nExample:\n  streambank pin MEMORY_ID\n")
@connected
@click.argument("memory", nargs=-1, required=True)
def pin(connection: Connection, memory: tuple[str, ...]) -> None:
    """Pin memories by their ids: no generation changes them; `streambank reviews` lists what contradicts them."""
    _set_pins(connection, memory, pinned=True)


@click.command(epilog="\b\nExample:\n  streambank unpin MEMORY_ID\n")
@connected
@click.argument("memory", nargs=-1, required=True)
def unpin(connection: Connection, memory: tuple[str, ...]) -> None:
    """Let generations change memories again, by their ids."""
    _set_pins(connection, memory, pinned=False)


def _set_pins(connection: Connection, names: tuple[str, ...], *, pinned: bool) -> None:
    bank = connection.bank()
    changed = [bank.update_memory(memory=one, pinned=pinned).result() for one in names]
    lines = [f"{'pinned' if pinned else 'unpinned'}  {one.fact}" for one in changed]
    connection.write({"memories": [one.document() for one in changed]}, lines)


def _utc(instant: datetime | None) -> datetime | None:
    return instant and instant.replace(tzinfo=instant.tzinfo or UTC)


def _line(memory: Memory, *, with_scope: bool) -> str:
    owner = f"  {_spelled(memory.scope)}" if with_scope else ""
    fact = dated_fact(memory) or f"profile {memory.structured_content.schema_id if memory.structured_content else ''}"
    pinned = "  (pinned)" if memory.pinned else ""
    return f"{memory.update_time:%Y-%m-%d %H:%M}  {memory.id}{owner}  {fact}{pinned}"


def _distance_line(one: RetrievedMemory, *, with_scope: bool) -> str:
    distance = "" if one.distance is None else f"{one.distance:.2f}"
    owner = f"{_spelled(one.memory.scope)}  " if with_scope else ""
    return f"{distance:>8}  {owner}{dated_fact(one.memory)}"


def _spelled(scope: Mapping[str, str]) -> str:
    return ",".join(f"{key}={value}" for key, value in scope.items())
