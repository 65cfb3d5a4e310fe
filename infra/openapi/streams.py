"""Streams, whereabouts of events, and what is tried again."""

from typing import Annotated

from pydantic import Field

from infra.openapi.answered import NextTrigger, Page
from infra.openapi.leaves import Answer, NeededId, Scope
from streambank.model.operation import OperationState
from streambank.wire import stream

EventIds = Annotated[list[NeededId], Field(min_length=1, max_length=stream.MAX_EVENTS)]


class StreamStatus(Answer):
    """A stream: what is pending, what fires next, and how its newest sealed window stands."""

    scope: dict[str, str]
    stream_id: str
    pending_events: int
    next_trigger: NextTrigger | None = None
    pending_operation: str | None = None
    last_operation: str | None = None
    last_state: OperationState | None = None
    last_failure: str | None = None


class Streams(Page):
    streams: list[StreamStatus]


class FindEventsRequest(stream.FindEventsRequest):
    """Events of one stream, by the ids that callers gave them."""

    scope: Scope
    event_ids: EventIds


class EventStatus(Answer):
    """Where an event is: the state of its window, or UNKNOWN."""

    event_id: str
    state: str
    sequence: int | None = None
    operation: str | None = None


class FoundEvents(Answer):
    events: list[EventStatus]


class RedrivenOperations(Answer):
    """Parked windows that are tried again; where not all were, the same call goes on."""

    operations: list[str]
    is_complete: bool
