"""What became of each event and each candidate of one window."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from streambank.model.coverage import NotShown
from streambank.model.event import Event, StoredEvent
from streambank.model.ids import OperationId
from streambank.model.plan import Extracted
from streambank.model.stream import Head, StreamId
from streambank.model.verdict import RecordedVerdict
from streambank.model.window import Attempt, Window, WindowState
from streambank.model.window_detail import CandidateDetail, EventDetail, WindowDetail
from streambank.pipeline.generation.operations import OperationContext
from streambank.rules import moved_tombstones, tombstones
from streambank.rules.coverage import not_shown_reason
from streambank.rules.keyed_hashes import KeyedHashes
from streambank.store.memories import Memories


@dataclass(frozen=True, slots=True)
class DetailContext(OperationContext):
    """What the details of windows and events need; *id_secret* is read where the scope has a tombstone."""

    memories: Memories
    id_secret: Callable[[], bytes]
    now: datetime


def window_detail(bank: str, operation: OperationId, *, context: DetailContext) -> WindowDetail | None:
    """Return the details of an operation's window, open or sealed; None for a window without any.

    A window that an erasure has ended shows nothing, also where not all of it is deleted yet.

    Raises:
        OutOfReach: the table did not answer.
    """
    head = context.streams.head(bank, operation.sid)
    if head and head.window == operation.window:
        return _open_detail(head, context)
    window = context.windows.get(bank, operation.sid, operation.window)
    if window is None:
        return None
    if window.state is WindowState.ERASED:
        return WindowDetail(window.stream, missing_events=window.count)
    return _sealed_detail(window, context)


def _open_detail(head: Head, context: DetailContext) -> WindowDetail:
    stream = head.stream
    events = context.windows.live_events(stream.bank, stream.sid, head.start, head.seq, now=context.now)
    forgotten = forgotten_numbers(stream, {one.seq: one.event for one in events}, context=context)
    visible = [EventDetail(one) for one in _visible(events, forgotten)]
    return WindowDetail(
        stream, tuple(visible), missing_events=head.count - len(events), forgotten_events=len(events) - len(visible)
    )


def _sealed_detail(window: Window, context: DetailContext) -> WindowDetail:
    stream = window.stream
    first = max(1, window.first_seq - (window.rule.overlap if window.rule else 0))
    events = context.windows.live_events(stream.bank, stream.sid, first, window.last_seq, now=context.now)
    own = [one for one in events if one.seq >= window.first_seq]
    forgotten = forgotten_numbers(stream, {one.seq: one.event for one in events}, context=context)
    attempt = Attempt(stream.bank, stream.sid, window.number, window.attempt)
    extracted = context.plans.extracted(attempt)
    candidates = _candidates(extracted, context.plans.verdicts(window)) if extracted else []
    visible = tuple(one for one in candidates if forgotten.isdisjoint(one.candidate.seqs))
    return WindowDetail(
        stream=stream,
        events=tuple(_event(one, extracted) for one in _visible(own, forgotten)),
        candidates=visible,
        offered=_offered(attempt, extracted, context) if extracted else (),
        missing_events=window.count - len(own),
        forgotten_events=sum(one.seq in forgotten for one in own),
        forgotten_candidates=len(candidates) - len(visible),
        event_ids={one.seq: one.event.event_id for one in events if one.event.event_id is not None},
    )


def forgotten_numbers(stream: StreamId, events: Mapping[int, Event], *, context: DetailContext) -> frozenset[int]:
    """Return the numbers of those of *events* that a deleted memory cited: nothing shows them again.

    *events* has them by their numbers. Cost: one query.
    """
    left = context.memories.tombstones(stream.bank, stream.scope, now=context.now)
    if not left:
        return frozenset()
    hashes = KeyedHashes.of_scope(context.id_secret(), stream.bank, stream.scope)
    left = moved_tombstones.with_current_hashes(left, hashes, ((stream, event) for event in events.values()))
    return tombstones.cited_numbers({seq: hashes.of_event(stream.sid, one) for seq, one in events.items()}, left)


def _visible(events: Sequence[StoredEvent], forgotten: frozenset[int]) -> list[StoredEvent]:
    return sorted((one for one in events if one.seq not in forgotten), key=StoredEvent.order)


def _event(event: StoredEvent, extracted: Extracted | None) -> EventDetail:
    """Return an event, and why the model was not shown it if the window's candidates are there."""
    if extracted is None:
        return EventDetail(event)
    counted = extracted.coverage.not_covered
    # Where the model read tool traffic, no event was kept from it as such.
    reason = not_shown_reason(event, include_tool_traffic=NotShown.TOOL not in counted)
    return EventDetail(event, reason or (NotShown.DISABLED if NotShown.DISABLED in counted else None))


def _candidates(extracted: Extracted, verdicts: Iterable[RecordedVerdict]) -> list[CandidateDetail]:
    by_number: dict[int, list[RecordedVerdict]] = {}
    for one in verdicts:
        by_number.setdefault(one.number, []).append(one)
    return [
        CandidateDetail(number, candidate, tuple(by_number.get(number, ())))
        for number, candidate in enumerate(extracted.candidates)
    ]


def _offered(attempt: Attempt, extracted: Extracted, context: DetailContext) -> tuple[str, ...]:
    """Return the ids of the memories that the model was given, with the events or beside the candidates."""
    plan = context.plans.plan(attempt)
    return tuple(dict.fromkeys([*extracted.offered, *(plan.offered if plan else ())]))
