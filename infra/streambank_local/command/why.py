"""`streambank why`: the way of an event to its memories."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from streambank_client import Bank
from streambank_client.errors import NotFound
from streambank_client.types import Candidate, EventStatus, Memory, WindowDetail
from streambank_local.command.connection import Connection, connected, scope_option

_UNKNOWN = "UNKNOWN"
_BUFFERING = "BUFFERING"


@click.command(epilog="\b\nExample:\n  streambank why EVENT_ID --scope user_id=ada --stream monday\n")
@connected
@scope_option()
@click.option("--stream", help="the event's stream, if it is not the default one")
@click.argument("event_id")
def why(connection: Connection, scope: dict[str, str], stream: str | None, event_id: str) -> int:
    """Show what became of an event: its window, the facts that cite it, their verdicts and the memories."""
    bank = connection.bank()
    [status] = bank.find_events(scope=scope, stream_id=stream, event_ids=[event_id])
    operation = bank.get_operation(operation=status.operation, view="FULL") if status.operation else None
    memories = _memories(bank, status)
    document = {
        "event": status.document(),
        "window": operation.metadata.document() if operation else None,
        "detail": operation.detail.document() if operation and operation.detail else None,
        "memories": [one.document() for one in memories],
    }
    connection.write(document, _lines(status, operation, memories))
    return 1 if status.state == _UNKNOWN else 0


def _memories(bank: Bank, status: EventStatus) -> list[Memory]:
    """Return the memories of the event that are still there."""
    memories = []
    for name in status.memories:
        try:
            memories.append(bank.get_memory(memory=name))
        except NotFound:
            continue
    return memories


def _lines(status: EventStatus, operation: Any, memories: list[Memory]) -> Iterator[str]:
    if operation is None:
        yield f"event     {status.event_id}: the stream never accepted it, or the service keeps its id no longer"
        return
    detail, metadata = operation.detail or WindowDetail(), operation.metadata
    yield from _event_lines(status, detail)
    closed = f", closed by {metadata.trigger}" if metadata.trigger else ""
    failure = f" ({metadata.failure})" if metadata.failure else ""
    yield f"window    {metadata.window}{closed}: {metadata.state}{failure}"
    if metadata.state == _BUFFERING and metadata.next_trigger:
        yield f"next      {metadata.next_trigger.kind} at {metadata.next_trigger.time:%Y-%m-%d %H:%M:%S}"
    candidates = [one for one in detail.candidates if _cites(one, status)]
    for one in candidates:
        yield f"fact {one.number:<4} {one.fact}"
        for verdict in one.verdicts:
            reason = f": {verdict.reason}" if verdict.reason else ""
            yield f"          {verdict.verdict}{reason}"
    if metadata.state == "DONE" and not candidates:
        yield "fact      The model proposed no fact that cites this event."
    for memory in memories:
        yield f"memory    {memory.id}  {memory.fact}"


def _event_lines(status: EventStatus, detail: WindowDetail) -> Iterator[str]:
    event = next((one for one in detail.events if one.sequence == status.sequence), None)
    yield f"event     {status.event_id}, number {status.sequence} of its stream"
    if status.forgotten:
        yield "          It was forgotten: a memory that was deleted cited it."
    elif event:
        yield f"          {event.content.role}: {event.content.text}"
        if event.not_shown:
            yield f"          The model was not shown it: {event.not_shown}."


def _cites(candidate: Candidate, status: EventStatus) -> bool:
    return any(one.sequence == status.sequence for one in candidate.events)
