"""A long-running operation as callers see it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from streambank.model.content_policy import Finding
from streambank.model.ids import OperationId
from streambank.model.stream import StreamId
from streambank.model.verdict import RecordedVerdict
from streambank.model.window import Window


class OperationState(StrEnum):
    """How far the generation of an operation's window has come."""

    BUFFERING = "BUFFERING"
    SEALED = "SEALED"
    GENERATING = "GENERATING"
    RETRYING = "RETRYING"
    BUDGET_PAUSED = "BUDGET_PAUSED"
    PARKED = "PARKED"
    ERASED = "ERASED"
    DONE = "DONE"

    @property
    def is_final(self) -> bool:
        return self in (OperationState.PARKED, OperationState.ERASED, OperationState.DONE)


@dataclass(frozen=True, slots=True)
class NextTrigger:
    """The trigger that fires next, when, and how many more events or tokens would seal the window sooner."""

    kind: str
    at: datetime
    remaining_events: int | None = None
    remaining_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Operation:
    """The operation of a window; *window* is None while it is open, and for the virtual window 0."""

    id: OperationId
    state: OperationState
    pending_events: int = 0
    created: datetime | None = None
    updated: datetime | None = None
    next_trigger: NextTrigger | None = None
    window: Window | None = None
    verdicts: tuple[RecordedVerdict, ...] = ()


@dataclass(frozen=True, slots=True)
class Receipt:
    """What an ingest call did: how many events were new, how many duplicates, and which ids had other content.

    *not_learnt* counts those that were dropped because their scope was set to learn nothing when they were said;
    *is_learning_disabled* tells that it is so now.
    """

    operation: Operation
    accepted: int = 0
    duplicates: int = 0
    conflicts: tuple[str, ...] = ()
    not_learnt: int = 0
    is_learning_disabled: bool = False


@dataclass(frozen=True, slots=True)
class StreamStatus:
    """A stream: its open window's operation, if there is anything in it, and the newest sealed window's."""

    stream: StreamId
    pending: Operation | None
    last: Operation | None


@dataclass(frozen=True, slots=True)
class EventStatus:
    """The window that an event is in; one that was never accepted, or whose marker has expired, has no operation.

    *verdicts* are those on the candidates that cite it. *is_forgotten* tells that a deleted memory cited it; then
    there are none.
    """

    event_id: str
    sequence: int = 0
    operation: OperationId | None = None
    state: OperationState | None = None
    verdicts: tuple[RecordedVerdict, ...] = ()
    is_forgotten: bool = False
    findings: tuple[Finding, ...] = ()
