"""Taking events in: two round trips for each 97 new ids, and a reply only after the commit (I10)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from streambank.errors import Conflict, NotFound, Unavailable
from streambank.model.bank import Bank
from streambank.model.event import EventMarker, KeyedEvent
from streambank.model.operation import Operation, Receipt
from streambank.model.rule import TriggerRule
from streambank.model.stream import Head, IngestCall
from streambank.pipeline.events.seal import seal
from streambank.retry import RetryPolicy
from streambank.rules import ingest_parts, operations, triggers, window
from streambank.store.streams import IngestSnapshot, RetentionPolicy, Streams
from streambank.store.windows import Windows


@dataclass(frozen=True, slots=True)
class IngestContext:
    """What an ingest needs: stores, the clock, and the deployment's lifetimes."""

    streams: Streams
    windows: Windows
    clock: Callable[[], datetime]
    retry_policy: RetryPolicy
    retention_policy: RetentionPolicy


@dataclass(slots=True)
class _IngestResult:
    """What the parts of a call have come to so far."""

    accepted: int = 0
    duplicates: int = 0
    conflicts: list[str] = field(default_factory=list)
    newest_window: int | None = None
    newest_marker: EventMarker | None = None
    flushed: int | None = None
    head: Head | None = None
    bank: Bank | None = None

    def add(self, found: ingest_parts.DeduplicatedEvents) -> None:
        self.accepted += len(found.fresh)
        self.duplicates += found.repeats
        self.conflicts += found.conflicts
        if found.newest_marker and (self.newest_marker is None or found.newest_marker.seq > self.newest_marker.seq):
            self.newest_marker = found.newest_marker


def ingest(call: IngestCall, *, context: IngestContext) -> Receipt:
    """Accept the events of *call* that are new and return the operation of the window that holds the newest (I3).

    Raises:
        NotFound: there is no such bank.
        Unavailable: the stream was too busy, or the store out of reach; the same call may be sent again.
    """
    events, dropped = ingest_parts.drop_repeats(call.events)
    tally = _IngestResult()
    tally.add(dropped)
    pieces = ingest_parts.split_into_parts(events)
    for index, piece in enumerate(pieces):
        _write_part(replace(call, events=piece), tally, context, is_last=index == len(pieces) - 1)
    conflicts = tuple(dict.fromkeys(tally.conflicts))
    return Receipt(_operation(call, tally, context), tally.accepted, tally.duplicates, conflicts)


def _write_part(call: IngestCall, tally: _IngestResult, context: IngestContext, *, is_last: bool) -> None:
    event_keys = [keyed.key for keyed in call.events if keyed.key]
    for _ in context.retry_policy.attempts():
        now = context.clock()
        found = context.streams.read_snapshot(call.stream, event_keys, now=now)
        if found.bank is None:
            raise NotFound(f"there is no bank {call.stream.bank!r}")
        try:
            _try_part(call, found, found.bank, tally, context, now=now, is_last=is_last)
        except Conflict:
            continue
        return
    raise Unavailable("the stream is written too fast; try again")


def _try_part(
    call: IngestCall,
    found: IngestSnapshot,
    bank: Bank,
    tally: _IngestResult,
    context: IngestContext,
    *,
    now: datetime,
    is_last: bool,
) -> None:
    """Write what is new of one part, as of one reading of the stream; a window that is due is sealed first."""
    sorted_out = ingest_parts.deduplicate(call.events, found.seen)
    before = found.head
    head = before or Head(call.stream)
    after = _admitted(call, head, sorted_out.fresh, bank, now=now, is_last=is_last)
    says = _says_something(call, sorted_out, tally)
    if _changes(before, after, says=says):
        reason = triggers.must_seal_first(head, _rule(head, bank), now=now)
        if reason:
            if call.force:
                tally.flushed = head.window
            before = head = seal(head, reason, bank, streams=context.streams, now=now)
            after = _admitted(call, head, sorted_out.fresh, bank, now=now, is_last=is_last)
        if _changes(before, after, says=says):
            head = _commit(before, after, sorted_out.fresh, bank, context, now)
    tally.add(sorted_out)
    tally.head, tally.bank = (head if before or head.version else None), bank
    if sorted_out.fresh:
        tally.newest_window = head.window
    elif call.force and is_last and head.count:
        tally.flushed = head.window


def _admitted(
    call: IngestCall, head: Head, fresh: Sequence[KeyedEvent], bank: Bank, *, now: datetime, is_last: bool
) -> Head:
    return window.add_events(head, call, fresh, bank_rule=bank.default_rule, now=now, is_last_part=is_last)


def _rule(head: Head, bank: Bank) -> TriggerRule | None:
    return triggers.effective_rule(None, head.rule, bank.default_rule)


def _changes(before: Head | None, after: Head, *, says: bool) -> bool:
    """A call that adds nothing and says nothing writes nothing, and so moves no timer."""
    if before is None:
        return bool(after.count or after.rule or not after.settings.is_empty)
    return says and after != before


def _says_something(call: IngestCall, found: ingest_parts.DeduplicatedEvents, tally: _IngestResult) -> bool:
    """The last part of a call ripens what its earlier parts added, also if it adds nothing itself."""
    return bool(found.fresh or tally.accepted or call.force or call.rule) or not call.settings.is_empty


def _commit(
    before: Head | None, after: Head, fresh: Sequence[KeyedEvent], bank: Bank, context: IngestContext, now: datetime
) -> Head:
    default = context.retention_policy
    retention_policy = RetentionPolicy(bank.retention or default.retention, bank.dedup_horizon or default.dedup_horizon)
    return context.streams.commit(before, after, fresh, now=now, retention_policy=retention_policy)


def _operation(call: IngestCall, tally: _IngestResult, context: IngestContext) -> Operation:
    """Return the operation that answers the call; a window that is sealed already costs one more read."""
    head = tally.head
    number = _answering_window(tally)
    if head is None or number == 0:
        return operations.virtual(call.stream.sid)
    if number >= head.window:
        return operations.buffering(head, tally.bank.default_rule if tally.bank else None)
    sealed = context.windows.get(call.stream.bank, call.stream.sid, number)
    return operations.sealed(sealed) if sealed else operations.expired(call.stream.sid, number)


def _answering_window(tally: _IngestResult) -> int:
    if tally.newest_window is not None:
        return tally.newest_window
    if tally.flushed is not None:
        return tally.flushed
    if tally.newest_marker is not None:
        return tally.newest_marker.window
    if tally.head is None:
        return 0
    return tally.head.window if tally.head.count else tally.head.window - 1
