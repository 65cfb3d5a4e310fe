"""Streams and the states of events."""

from __future__ import annotations

from streambank_client.types.base import Shape
from streambank_client.types.operations import NextTrigger, RecordedVerdict
from streambank_client.types.policies import PolicyFinding


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
    """The state of an event's window, or UNKNOWN; *sequence* is the event's number in the stream.

    *verdicts* are those on the facts that cite the event, and *memories* the memories that these created, changed or
    restated. An event is *forgotten* if a memory that was deleted cited it. *content_policy* is what the bank's content
    policy found in it.
    """

    event_id: str
    state: str
    sequence: int | None = None
    operation: str | None = None
    memories: list[str] = []
    verdicts: list[RecordedVerdict] = []
    omitted_verdicts: int | None = None
    forgotten: bool = False
    content_policy: list[PolicyFinding] = []


class RedrivenOperations(Shape):
    """The names of the operations that are retried, and whether these are all."""

    operations: list[str] = []
    is_complete: bool = True
