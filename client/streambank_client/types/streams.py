"""Streams and the states of events."""

from __future__ import annotations

from streambank_client.types.base import Shape
from streambank_client.types.operations import NextTrigger


class StreamStatus(Shape):
    """A stream: its pending events, its next trigger, and the state of its newest sealed window."""

    scope: dict[str, str] = {}
    stream_id: str
    pending_events: int = 0
    next_trigger: NextTrigger | None = None
    pending_operation: str | None = None
    last_operation: str | None = None
    last_state: str | None = None
    last_failure: str | None = None


class EventStatus(Shape):
    """The state of an event's window, or UNKNOWN; *sequence* is the event's number in the stream."""

    event_id: str
    state: str
    sequence: int | None = None
    operation: str | None = None


class RedrivenOperations(Shape):
    """The names of the operations that are retried, and whether these are all."""

    operations: list[str] = []
    is_complete: bool = True
