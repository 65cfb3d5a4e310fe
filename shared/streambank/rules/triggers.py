"""Decides when a window is sealed, and why."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from streambank.model.rule import Reason, TriggerRule
from streambank.model.stream import Head

ABANDONED_AFTER = timedelta(hours=24)
MAX_AGE = timedelta(days=30)
# Bytes of JSON of an open window; a larger window is sealed early, so that a generation stays bounded.
MAX_WINDOW_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class Due:
    """The next timer of a window: its reason and its time."""

    reason: Reason
    at: datetime


def effective_rule(own: TriggerRule | None, stream: TriggerRule | None, bank: TriggerRule | None) -> TriggerRule | None:
    """Return the rule of the call, else of the stream, else of the bank; None means that windows are sealed at once."""
    rule = next((one for one in (own, stream, bank) if one is not None), None)
    return None if rule is None or rule.is_empty else rule


def next_tick(anchor: datetime, after: datetime, interval: timedelta) -> datetime:
    """Return the first tick of *interval*, counted from *anchor*, strictly after *after*."""
    return anchor + ((after - anchor) // interval + 1) * interval


def round_up_to_second(instant: datetime) -> datetime:
    """Return *instant* rounded up to a second: index `due` has whole seconds, and no timer may fire early."""
    return instant if not instant.microsecond else instant.replace(microsecond=0) + timedelta(seconds=1)


def next_due(head: Head, rule: TriggerRule | None) -> Due | None:
    """Return the first timer of *head*'s open window, or None while the window is empty."""
    first, last = head.first_arrival, head.last_arrival
    if not head.count or first is None or last is None:
        return None
    timers = [Due(Reason.ABANDONED, last + ABANDONED_AFTER), Due(Reason.MAX_AGE, first + MAX_AGE)]
    if rule and rule.idle:
        timers.insert(0, Due(Reason.IDLE_DURATION, last + rule.idle))
    if rule and rule.interval:
        timers.insert(0, Due(Reason.FIXED_INTERVAL, next_tick(head.anchor or first, first, rule.interval)))
    return min(timers, key=lambda due: due.at)


def timer_fired(head: Head, rule: TriggerRule | None, *, now: datetime) -> Reason | None:
    """Return the reason of the timer that has fired for *head*'s open window at *now*, or None."""
    due = next_due(head, rule)
    return due.reason if due and due.at <= now else None


def must_seal_first(head: Head, rule: TriggerRule | None, *, now: datetime) -> Reason | None:
    """Return why a writing call must seal *head*'s window before it adds events, or None.

    The count is not checked here: a call in parts may have passed it before its last part was written.
    """
    return (head.seal_reason or timer_fired(head, rule, now=now)) if head.count else None


def immediate_seal_reason(head: Head, rule: TriggerRule | None, *, force: bool = False) -> Reason | None:
    """Return why *head*'s window must be sealed regardless of the time, or None."""
    if not head.count:
        return None
    if force:
        return Reason.FORCE_FLUSH
    if rule is None:
        return Reason.NO_RULE
    if rule.event_count is not None and head.count >= rule.event_count:
        return Reason.EVENT_COUNT
    if rule.token_count is not None and head.tokens >= rule.token_count:
        return Reason.TOKEN_COUNT
    return Reason.MAX_SIZE if head.size > MAX_WINDOW_BYTES else None


def decide(head: Head, rule: TriggerRule | None, *, now: datetime) -> Reason | None:
    """Return why *head*'s window must be sealed at *now*, or None."""
    if not head.count:
        return None
    return head.seal_reason or immediate_seal_reason(head, rule) or timer_fired(head, rule, now=now)
