"""Ingesting events: two round trips for each 97 new ids, and a reply only after the commit (I10)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from streambank.errors import Conflict, NotFound, Unavailable
from streambank.model.bank import Bank
from streambank.model.consent import Learning
from streambank.model.event import CallMarker, EventMarker, KeyedEvent
from streambank.model.operation import Operation, Receipt
from streambank.model.rule import TriggerRule
from streambank.model.stream import Head, IngestCall
from streambank.pipeline.events.call_parts import CallParts
from streambank.pipeline.events.restore import restore
from streambank.pipeline.events.seal import seal
from streambank.pipeline.screening.screening import Screenings
from streambank.retry import RetryPolicy
from streambank.rules import ingest_parts, operations, triggers, window
from streambank.store.streams import IngestSnapshot, RetentionPolicy, Streams
from streambank.store.windows import Windows


@dataclass(frozen=True, slots=True)
class IngestContext:
    """What an ingest needs."""

    streams: Streams
    windows: Windows
    clock: Callable[[], datetime]
    retry_policy: RetryPolicy
    retention_policy: RetentionPolicy
    screenings: Screenings = field(default=Screenings())


@dataclass(slots=True)
class _IngestResult:
    """The result of the parts of a call so far."""

    accepted: int = 0
    duplicates: int = 0
    restored: int = 0
    conflicts: list[str] = field(default_factory=list)
    newest_window: int | None = None
    newest_marker: EventMarker | None = None
    flushed: int | None = None
    not_learnt: int = 0
    is_learning_disabled: bool = False
    head: Head | None = None
    bank: Bank | None = None

    def add(self, events: ingest_parts.DeduplicatedEvents) -> None:
        self.accepted += len(events.fresh)
        self.duplicates += events.repeats
        self.conflicts += events.conflicts
        newest = events.newest_marker
        if newest and (self.newest_marker is None or newest.seq > self.newest_marker.seq):
            self.newest_marker = newest


def ingest(call: IngestCall, *, context: IngestContext) -> Receipt:
    """Accept the events of *call* that are new and return the operation of the window that holds the newest (I3).

    Raises:
        NotFound: there is no such bank.
        InvalidArgument: the bank's content policy refuses an event; nothing of the call was stored.
        KeyReused: the call's idempotency key was used with another body.
        Unavailable: the stream is written by others at the same time, or the table did not answer; the same call may be
            sent again.
    """
    result, parts, index = _IngestResult(), CallParts.of(call), 0
    while index < parts.count:
        parts = _write_part(parts, index, result, context)
        index += 1
    conflicts = tuple(dict.fromkeys((*parts.dropped.conflicts, *result.conflicts)))
    accepted = result.accepted + result.restored
    duplicates = result.duplicates + parts.dropped.repeats - result.restored
    operation = _operation(parts.call, result, context)
    return Receipt(operation, accepted, duplicates, conflicts, result.not_learnt, result.is_learning_disabled)


def _write_part(parts: CallParts, index: int, result: _IngestResult, context: IngestContext) -> CallParts:
    """Write a part of a call, and return the call as the bank's content policy leaves it."""
    for _ in context.retry_policy.attempts():
        call, now = parts.part(index), context.clock()
        snapshot = context.streams.read_snapshot(call.stream, call.marker_keys, now=now)
        if snapshot.bank is None:
            raise NotFound(f"there is no bank {call.stream.bank!r}")
        learnt = _learnt(call, snapshot.bank, context)
        if learnt is None:
            result.head, result.bank, result.is_learning_disabled = snapshot.head, snapshot.bank, True
            result.not_learnt += len(call.events)
            return parts
        if index == 0 and snapshot.bank.content_policy:
            parts = parts.screened(snapshot.bank.content_policy, context.screenings.of(call.stream.bank))
            learnt = _learnt(parts.part(index), snapshot.bank, context) or learnt
        try:
            is_last = index == parts.count - 1
            _try_part(learnt, snapshot, snapshot.bank, result, context, now=now, is_last=is_last)
        except Conflict:
            continue
        result.not_learnt += len(parts.part(index).events) - len(learnt.events)
        return parts
    raise Unavailable("the stream is written by others at the same time; try again")


def _learnt(call: IngestCall, bank: Bank, context: IngestContext) -> IngestCall | None:
    """Return *call* with the events that may be learnt, or None where nothing is learnt in its scope.

    Cost: one read, in a bank some scope of which was set to learn nothing.
    """
    if not bank.has_consent_settings:
        return call
    consent = context.streams.consent(bank.id, call.stream.scope)
    if consent.learning is Learning.DISABLED:
        return None
    return replace(call, events=tuple(keyed for keyed in call.events if not consent.forbids(keyed.event.time)))


def _try_part(
    call: IngestCall,
    snapshot: IngestSnapshot,
    bank: Bank,
    result: _IngestResult,
    context: IngestContext,
    *,
    now: datetime,
    is_last: bool,
) -> None:
    """Write what is new of one part, given one snapshot of the stream; a window that is due is sealed first."""
    if snapshot.head and snapshot.head.is_moving:
        raise Unavailable("the events of this stream are being moved here; try again")
    new_marker = _new_marker(call, snapshot)
    events = ingest_parts.deduplicate(call.events, snapshot.markers)
    before = snapshot.head
    if events.repeats and before and before.has_gaps:
        result.restored += restore(call, before, snapshot.markers, windows=context.windows)
    head = before or Head(call.stream)
    after = _head_after(call, head, events.fresh, bank, now=now, is_last=is_last)
    has_effect = _has_effect(call, events, result)
    if _changes(before, after, has_effect=has_effect):
        reason = triggers.must_seal_first(head, _rule(head, bank), now=now)
        if reason:
            if call.force:
                result.flushed = head.window
            before = head = seal(head, reason, bank, streams=context.streams, now=now)
            after = _head_after(call, head, events.fresh, bank, now=now, is_last=is_last)
        if _changes(before, after, has_effect=has_effect):
            head = _commit(before, after, events.fresh, new_marker, bank, context, now)
    result.add(events)
    result.head, result.bank = (head if before or head.version else None), bank
    if events.fresh:
        result.newest_window = head.window
    elif call.force and is_last and head.count:
        result.flushed = head.window


def _new_marker(call: IngestCall, snapshot: IngestSnapshot) -> CallMarker | None:
    """Return the marker of the call's idempotency key if it is not stored yet. Raises KeyReused."""
    if call.marker is None:
        return None
    stored = snapshot.markers.get(call.marker.key)
    call.marker.check(stored)
    return None if stored else call.marker


def _head_after(
    call: IngestCall, head: Head, fresh: Sequence[KeyedEvent], bank: Bank, *, now: datetime, is_last: bool
) -> Head:
    return window.add_events(head, call, fresh, bank_rule=bank.default_rule, now=now, is_last_part=is_last)


def _rule(head: Head, bank: Bank) -> TriggerRule | None:
    return triggers.effective_rule(None, head.rule, bank.default_rule)


def _changes(before: Head | None, after: Head, *, has_effect: bool) -> bool:
    """Tell whether the head must be written; a call without effect writes nothing, and so moves no timer."""
    if before is None:
        return bool(after.count or after.rule or not after.settings.is_empty)
    return has_effect and after != before


def _has_effect(call: IngestCall, events: ingest_parts.DeduplicatedEvents, result: _IngestResult) -> bool:
    """Tell whether a part has an effect; the last one has where an earlier part added events, as it may be due now."""
    return bool(events.fresh or result.accepted or call.force or call.rule) or not call.settings.is_empty


def _commit(
    before: Head | None,
    after: Head,
    fresh: Sequence[KeyedEvent],
    marker: CallMarker | None,
    bank: Bank,
    context: IngestContext,
    now: datetime,
) -> Head:
    default = context.retention_policy
    retention_policy = RetentionPolicy(bank.retention or default.retention, bank.dedup_horizon or default.dedup_horizon)
    return context.streams.commit(before, after, fresh, marker, now=now, retention_policy=retention_policy)


def _operation(call: IngestCall, result: _IngestResult, context: IngestContext) -> Operation:
    """Return the operation to reply with; a window that is sealed already costs one more read."""
    head = result.head
    number = _window_of_reply(result)
    if head is None or number == 0:
        return operations.virtual(call.stream.sid)
    if number >= head.window:
        return operations.buffering(head, result.bank.default_rule if result.bank else None)
    sealed = context.windows.get(call.stream.bank, call.stream.sid, number)
    return operations.sealed(sealed) if sealed else operations.expired(call.stream.sid, number)


def _window_of_reply(result: _IngestResult) -> int:
    if result.newest_window is not None:
        return result.newest_window
    if result.flushed is not None:
        return result.flushed
    if result.newest_marker is not None:
        return result.newest_marker.window
    if result.head is None:
        return 0
    return result.head.window if result.head.count else result.head.window - 1
