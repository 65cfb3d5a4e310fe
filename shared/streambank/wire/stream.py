"""Streams and the state of single events, in requests and replies."""

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from streambank.model import operation as model
from streambank.model.operation import OperationState
from streambank.wire import operation
from streambank.wire.fields import Id, RequiredId, Scope
from streambank.wire.model import RequestModel
from streambank.wire.operation import NextTrigger
from streambank.wire.reply import Page, without_nulls

MAX_EVENTS = 97
UNKNOWN = "UNKNOWN"


class FindEventsRequest(RequestModel):
    """Events of one stream, by the ids that callers gave them."""

    scope: Scope
    stream_id: Id = ""
    event_ids: Annotated[list[RequiredId], Field(min_length=1, max_length=MAX_EVENTS)]

    def distinct_ids(self) -> list[str]:
        """Return each id once, in their order."""
        return list(dict.fromkeys(self.event_ids))


class StreamStatus(TypedDict):
    """A stream: its pending events, what fires next, and the state of its newest sealed window."""

    scope: dict[str, str]
    streamId: str
    pendingEvents: int
    nextTrigger: NotRequired[NextTrigger | None]
    pendingOperation: NotRequired[str | None]
    lastOperation: NotRequired[str | None]
    lastState: NotRequired[OperationState | None]
    lastFailure: NotRequired[str | None]


class Streams(Page):
    streams: list[StreamStatus]


class EventStatus(TypedDict):
    """Where an event is: the state of its window, or UNKNOWN."""

    eventId: str
    state: str
    sequence: NotRequired[int | None]
    operation: NotRequired[str | None]


class EventStatuses(TypedDict):
    events: list[EventStatus]


def stream(status: model.StreamStatus, bank_name: str) -> StreamStatus:
    """Return the status of a stream."""
    pending, last = status.pending, status.last
    return without_nulls(
        StreamStatus(
            scope=status.stream.scope,
            streamId=status.stream.name,
            pendingEvents=pending.pending_events if pending else 0,
            nextTrigger=operation.next_trigger(pending) if pending else None,
            pendingOperation=_name(pending, bank_name),
            lastOperation=_name(last, bank_name),
            lastState=last.state if last else None,
            lastFailure=last.window.failure if last and last.window else None,
        )
    )


def _name(one: model.Operation | None, bank_name: str) -> str | None:
    return f"{bank_name}/operations/{one.id}" if one else None


def event(status: model.EventStatus, bank_name: str) -> EventStatus:
    """Return where an event is."""
    return without_nulls(
        EventStatus(
            eventId=status.event_id,
            state=status.state or UNKNOWN,
            sequence=status.sequence or None,
            operation=f"{bank_name}/operations/{status.operation}" if status.operation else None,
        )
    )
