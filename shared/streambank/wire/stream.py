"""Streams and the whereabouts of events, as the wire asks for them and shows them."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from streambank.model.operation import EventStatus, Operation, StreamStatus
from streambank.wire import operation, reader
from streambank.wire.ingest import MAX_ID_BYTES
from streambank.wire.requests import WireModel
from streambank.wire.times import without_nulls

MAX_EVENTS = 97
UNKNOWN = "UNKNOWN"


class FindEventsRequest(WireModel):
    scope: Any = None
    stream_id: Annotated[str, Field(max_length=MAX_ID_BYTES)] = ""
    event_ids: Annotated[list[str], Field(min_length=1, max_length=MAX_EVENTS)]


def event_ids(request: FindEventsRequest) -> list[str]:
    """Return the ids that are asked for, each once. Raises InvalidArgument."""
    reader.text(request.stream_id, "streamId", least_bytes=0, most_bytes=MAX_ID_BYTES)
    for index, event_id in enumerate(request.event_ids):
        reader.text(event_id, f"eventIds[{index}]", least_bytes=1, most_bytes=MAX_ID_BYTES)
    return list(dict.fromkeys(request.event_ids))


def stream(shown: StreamStatus, bank_name: str) -> dict[str, object]:
    """Return a stream: what is pending, what fires next, and how its newest sealed window stands."""
    return without_nulls(
        {
            "scope": shown.stream.scope,
            "streamId": shown.stream.name,
            "pendingEvents": shown.pending.pending_events if shown.pending else 0,
            "nextTrigger": operation.next_trigger(shown.pending) if shown.pending else None,
            "pendingOperation": _name(shown.pending, bank_name),
            "lastOperation": _name(shown.last, bank_name),
            "lastState": shown.last.state if shown.last else None,
            "lastFailure": shown.last.window.failure if shown.last and shown.last.window else None,
        }
    )


def _name(shown: Operation | None, bank_name: str) -> str | None:
    return f"{bank_name}/operations/{shown.id}" if shown else None


def event(shown: EventStatus, bank_name: str) -> dict[str, object]:
    """Return where an event is."""
    return without_nulls(
        {
            "eventId": shown.event_id,
            "state": shown.state or UNKNOWN,
            "sequence": shown.sequence or None,
            "operation": f"{bank_name}/operations/{shown.operation}" if shown.operation else None,
        }
    )
