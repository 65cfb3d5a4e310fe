"""Streams, and where events are."""

from __future__ import annotations

from streambank_client.types.base import Shape
from streambank_client.types.operations import NextTrigger


class StreamStatus(Shape):
    """A stream: what is pending, what fires next, and how its newest sealed window stands."""

    scope: dict[str, str] = {}
    stream_id: str
    pending_events: int = 0
    next_trigger: NextTrigger | None = None
    pending_operation: str | None = None
    last_operation: str | None = None
    last_state: str | None = None
    last_failure: str | None = None


class EventStatus(Shape):
    """Where an event is: the state of its window, or UNKNOWN; *sequence* is its number in the stream."""

    event_id: str
    state: str
    sequence: int | None = None
    operation: str | None = None


class RedrivenOperations(Shape):
    """The names of the windows' operations that are tried again, and whether that were all."""

    operations: list[str] = []
    is_complete: bool = True
