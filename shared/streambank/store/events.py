"""The raw events of a scope, as a search reads them: all streams together, newest first, up to a limit."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from streambank.model import ids
from streambank.model.search import EventScan, RawEvent
from streambank.model.stream import Head, StreamId
from streambank.model.window import Window, WindowState
from streambank.store import codec, keys
from streambank.store.attributes import milliseconds
from streambank.store.keys import Kind
from streambank.store.table import Table

# The limits of one search: the streams that were written last, and their newest events.
MAX_STREAMS = 100
MAX_EVENTS = 5_000
MAX_BYTES = 4_000_000
# How many heads are read to learn which streams were written last.
_MAX_HEADS = 1_000
_PAGE = 100
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class _Source:
    """A stream of the scope, and its head; a direct generation has none."""

    bank: str
    sid: str
    head: Head | None

    @property
    def last_arrival(self) -> datetime:
        return (self.head and self.head.last_arrival) or _LONG_AGO


@dataclass(frozen=True, slots=True)
class _Batch:
    """The item of events that one call wrote."""

    source: _Source
    item: Mapping[str, Any]


class Events:
    """The access patterns of `B#` across the streams of a scope."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def of_scope(self, bank: str, scope: Mapping[str, str], *, pending_only: bool, now: datetime) -> EventScan:
        """Return the newest live events of a scope, at most 5,000 or 4 MB of them.

        With *pending_only* only those are read that come after the last finished window of their stream.
        """
        sources, is_truncated = self._sources(bank, ids.scope_id(scope))
        runs = (self._batches(source, self._first_pending(source) if pending_only else 1, now) for source in sources)
        batches, is_more = _within_bounds(heapq.merge(*runs, key=lambda batch: -batch.item["at"]))
        events = [one for one in self._events(batches, dict(scope)) if one.is_pending or not pending_only]
        return EventScan(tuple(events[:MAX_EVENTS]), is_truncated or is_more or len(events) > MAX_EVENTS)

    def _sources(self, bank: str, cid: str) -> tuple[list[_Source], bool]:
        """Return the streams that were written last, and whether there are more."""
        prefix = keys.registered_stream(bank, cid, "")
        entries = self._table.query(prefix.pk, prefix=prefix.sk)
        sids = [entry["sid"] for entry in islice(entries, _MAX_HEADS + 1)]
        items = self._table.read(keys.head(bank, sid) for sid in sids[:_MAX_HEADS])
        heads = {key.pk: codec.head_of(item) for key, item in items.items()}
        sources = [_Source(bank, sid, heads.get(keys.stream(bank, sid))) for sid in sids[:_MAX_HEADS]]
        sources.sort(key=lambda source: (source.last_arrival, source.sid), reverse=True)
        return sources[:MAX_STREAMS], len(sids) > MAX_STREAMS

    def _first_pending(self, source: _Source) -> int | None:
        """Return the number of the first event after the last finished window, or None if there is none."""
        first = source.head.start if source.head and source.head.count else None
        newest = self._table.query(
            keys.stream(source.bank, source.sid), prefix=Kind.WINDOW.prefix, backward=True, page=10
        )
        for window in map(codec.window_of, newest):
            if window.state is WindowState.DONE:
                break
            first = window.first_seq
        return first

    def _batches(self, source: _Source, first: int | None, now: datetime) -> Iterator[_Batch]:
        """Yield a stream's batches from number *first* on, newest first, without what has expired (I9)."""
        if first is None:
            return
        ends = (keys.batch(source.bank, source.sid, first), keys.batch(source.bank, source.sid, keys.LAST_NUMBER))
        for item in self._table.query(ends[0].pk, between=(ends[0].sk, ends[1].sk), backward=True, page=_PAGE):
            if item.get("ttl") is None or item["ttl"] * 1000 > (milliseconds(now) or 0):
                yield _Batch(source, item)

    def _events(self, batches: list[_Batch], scope: dict[str, str]) -> Iterator[RawEvent]:
        """Yield the events of *batches* with the state of their windows, without those of erased windows."""
        states = self._windows(batches)
        for batch in batches:
            window = states.get((batch.source.sid, batch.item["win"]))
            if window and window.state is WindowState.ERASED:
                continue
            head = batch.source.head
            stream = StreamId(batch.source.bank, batch.source.sid, scope, _name(head, window))
            is_open = window is None and head is not None and batch.item["win"] >= head.window
            is_pending = is_open or (window is not None and window.state is not WindowState.DONE)
            for event in reversed(codec.batch_events(batch.item)):
                yield RawEvent(stream, batch.item["win"], event, is_pending)

    def _windows(self, batches: Iterable[_Batch]) -> dict[tuple[str, int], Window]:
        """Return the sealed windows that *batches* belong to: one query a stream."""
        numbers: dict[str, set[int]] = {}
        banks = {batch.source.sid: batch.source.bank for batch in batches}
        for batch in batches:
            numbers.setdefault(batch.source.sid, set()).add(batch.item["win"])
        windows: dict[tuple[str, int], Window] = {}
        for sid, of_stream in numbers.items():
            ends = (keys.window(banks[sid], sid, min(of_stream)), keys.window(banks[sid], sid, max(of_stream)))
            for item in self._table.query(ends[0].pk, between=(ends[0].sk, ends[1].sk)):
                windows[sid, item["win"]] = codec.window_of(item)
        return windows


def _name(head: Head | None, window: Window | None) -> str:
    if head:
        return head.stream.name
    return window.stream.name if window else ""


def _within_bounds(batches: Iterator[_Batch]) -> tuple[list[_Batch], bool]:
    """Return the first of *batches* up to the limits, and whether there are more."""
    within: list[_Batch] = []
    events = size = 0
    for batch in batches:
        if events >= MAX_EVENTS or size >= MAX_BYTES:
            return within, True
        within.append(batch)
        events += batch.item["n"]
        size += len(bytes(batch.item["d"]))
    return within, False
