"""Streams and the state of single events, in requests and replies."""

import sys
from collections.abc import Sequence
from itertools import takewhile
from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from streambank.model import operation as model
from streambank.model.operation import OperationState
from streambank.model.verdict import Verdict
from streambank.wire import operation, page_room
from streambank.wire.content_policy import PolicyFinding, findings
from streambank.wire.fields import Id, RequiredId, Scope
from streambank.wire.model import RequestModel
from streambank.wire.operation import NextTrigger, RecordedVerdict
from streambank.wire.page_room import PageRoom
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
    """Where an event is: the state of its window, or UNKNOWN; and what became of the facts that cite it.

    The memories are those of the verdicts. A reply has room for some megabytes of verdicts: the last ones of an event
    may be omitted, with their memories. An event is forgotten if a deleted memory cited it; then it has no verdicts.
    """

    eventId: str
    state: str
    sequence: NotRequired[int | None]
    operation: NotRequired[str | None]
    memories: NotRequired[list[str] | None]
    verdicts: NotRequired[list[RecordedVerdict] | None]
    omittedVerdicts: NotRequired[int | None]
    forgotten: NotRequired[bool | None]
    contentPolicy: NotRequired[list[PolicyFinding] | None]


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


def events(statuses: Sequence[model.EventStatus], bank_name: str) -> EventStatuses:
    """Return where events are, with as many of their verdicts as the reply has room for."""
    rows = [_event(status, bank_name) for status in statuses]
    room = PageRoom[Any](sys.maxsize, page_room.body_bytes, page_room.PAGE_BYTES - page_room.body_bytes(rows))
    for status, one in zip(statuses, rows, strict=True):
        _add_verdicts(one, status, bank_name, room)
    return EventStatuses(events=rows)


def _event(status: model.EventStatus, bank_name: str) -> EventStatus:
    return without_nulls(
        EventStatus(
            eventId=status.event_id,
            state=status.state or UNKNOWN,
            sequence=status.sequence or None,
            operation=f"{bank_name}/operations/{status.operation}" if status.operation else None,
            forgotten=status.is_forgotten or None,
            contentPolicy=findings(status.findings),
        )
    )


def _add_verdicts(one: EventStatus, status: model.EventStatus, bank_name: str, room: PageRoom[Any]) -> None:
    """Add the verdicts on the facts that cite an event, and their memories; a verdict counts with its memory's name."""
    recorded = (operation.recorded_verdict(each, bank_name) for each in status.verdicts)
    verdicts = list(takewhile(lambda each: room.admits([each, each.get("memory")]), recorded))
    if verdicts:
        changed = (each.get("memory") for each in verdicts if each["verdict"] is not Verdict.REJECTED)
        one["memories"] = list(dict.fromkeys(name for name in changed if name))
        one["verdicts"] = verdicts
    if len(verdicts) < len(status.verdicts):
        one["omittedVerdicts"] = len(status.verdicts) - len(verdicts)
