"""The operation of a window, as callers see it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from streambank.model.ids import OperationId
from streambank.model.operation import NextTrigger, Operation, OperationState
from streambank.model.rule import TriggerRule
from streambank.model.stream import Head
from streambank.model.verdict import RecordedVerdict
from streambank.model.window import Window, WindowState
from streambank.rules import triggers

RETRY = "RETRY"


def virtual(sid: str) -> Operation:
    """Return the operation of window 0, which is always done: the answer of a stream without any event."""
    return Operation(OperationId(sid, 0), OperationState.DONE)


def expired(sid: str, number: int) -> Operation:
    """Return the operation of a window whose record has expired; it is done."""
    return Operation(OperationId(sid, number), OperationState.DONE)


def buffering(head: Head, bank_rule: TriggerRule | None) -> Operation:
    """Return the operation of the open window of *head*."""
    rule = triggers.effective_rule(None, head.rule, bank_rule)
    return Operation(
        id=OperationId(head.stream.sid, head.window),
        state=OperationState.BUFFERING,
        pending_events=head.count,
        created=head.first_arrival,
        updated=head.last_arrival,
        next_trigger=_next_trigger(head, rule),
    )


def _next_trigger(head: Head, rule: TriggerRule | None) -> NextTrigger | None:
    if head.seal_reason and head.last_arrival:
        return NextTrigger(head.seal_reason, head.last_arrival)
    due = triggers.next_due(head, rule)
    if due is None:
        return None
    # A bank's default rule may have become shorter; the sweep applies it when it next looks at the stream.
    is_late = head.due is not None and head.due > triggers.round_up_to_second(due.at)
    at = head.due if is_late and head.due else due.at
    events, tokens = (rule.event_count, rule.token_count) if rule else (None, None)
    return NextTrigger(due.reason, at, _remaining(events, head.count), _remaining(tokens, head.tokens))


def _remaining(threshold: int | None, count: int) -> int | None:
    return None if threshold is None else max(0, threshold - count)


def sealed(window: Window, verdicts: Sequence[RecordedVerdict] = (), *, downstream: bool = False) -> Operation:
    """Return the operation of a sealed window, or of its *downstream* generation."""
    state = state_of(window)
    is_waiting = state in (OperationState.RETRYING, OperationState.BUDGET_PAUSED)
    retry = NextTrigger(RETRY, window.due) if is_waiting and window.due else None
    return Operation(
        id=OperationId(window.stream.sid, window.number, downstream),
        state=state,
        pending_events=0 if window.has_ended and state is not OperationState.PARKED else window.count,
        created=window.sealed,
        updated=_last_change(window),
        next_trigger=retry,
        window=window,
        verdicts=tuple(verdicts),
    )


def _last_change(window: Window) -> datetime:
    return window.ended or window.began or window.sealed


def state_of(window: Window) -> OperationState:
    """Return the state of a sealed window as callers see it."""
    if window.state is not WindowState.SEALED:
        return OperationState(window.state)
    if window.began:
        return OperationState.GENERATING
    if window.failure == OperationState.BUDGET_PAUSED:
        return OperationState.BUDGET_PAUSED
    return OperationState.RETRYING if window.failures else OperationState.SEALED
