"""The raw events of a scope, as a search reads them: all streams together, newest first, and not without end."""

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
from streambank.store.table import Table

# What one search looks at, at most: the streams written last, and of them the newest events.
MOST_STREAMS = 100
MOST_EVENTS = 5_000
MOST_BYTES = 4_000_000
# How many streams of a scope are asked when they were written last.
_MOST_HEADS = 1_000
_PAGE = 100
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class _Source:
    """A stream of the scope, and its head where it has one: what was generated directly has none."""

    bank: str
    sid: str
    head: Head | None

    @property
    def last_arrival(self) -> datetime:
        return (self.head and self.head.last_arrival) or _LONG_AGO


@dataclass(frozen=True, slots=True)
class _Batch:
    """Events that one call wrote, as their item."""

    source: _Source
    item: Mapping[str, Any]


class Events:
    """The access patterns of `B#` across the streams of a scope."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def of_scope(self, bank: str, scope: Mapping[str, str], *, pending_only: bool, now: datetime) -> EventScan:
        """Return the newest events of a scope that any read may show, at most 5,000 or 4 MB of them.

        With *pending_only* nothing is read of a stream from its last finished window back.
        """
        sources, is_cut = self._sources(bank, ids.scope_id(scope))
        runs = (self._batches(source, self._first_pending(source) if pending_only else 1, now) for source in sources)
        batches, is_more = _within_bounds(heapq.merge(*runs, key=lambda batch: -batch.item["at"]))
        found = list(self._shown(batches, dict(scope)))
        events = [one for one in found if one.is_pending] if pending_only else found
        return EventScan(tuple(events[:MOST_EVENTS]), is_cut or is_more or len(events) > MOST_EVENTS)

    def _sources(self, bank: str, cid: str) -> tuple[list[_Source], bool]:
        """Return the streams that were written last, and whether there are more."""
        entries = self._table.query(keys.registered_stream(bank, cid, "").pk, prefix=f"S#{cid}#")
        sids = [entry["sid"] for entry in islice(entries, _MOST_HEADS + 1)]
        found = self._table.read(keys.head(bank, sid) for sid in sids[:_MOST_HEADS])
        heads = {key.pk: codec.head_of(item) for key, item in found.items()}
        sources = [_Source(bank, sid, heads.get(keys.stream(bank, sid))) for sid in sids[:_MOST_HEADS]]
        sources.sort(key=lambda source: (source.last_arrival, source.sid), reverse=True)
        return sources[:MOST_STREAMS], len(sids) > MOST_STREAMS

    def _first_pending(self, source: _Source) -> int | None:
        """Return the number of the first event after the last finished window, None where there is surely none."""
        first = source.head.start if source.head and source.head.count else None
        newest = self._table.query(keys.stream(source.bank, source.sid), prefix="W#", backward=True, page=10)
        for window in map(codec.window_of, newest):
            if window.state is WindowState.DONE:
                break
            first = window.first_seq
        return first

    def _batches(self, source: _Source, first: int | None, now: datetime) -> Iterator[_Batch]:
        """Yield a stream's batches from number *first* on, newest first, without what has expired (I9)."""
        if first is None:
            return
        ends = (keys.batch(source.bank, source.sid, first), keys.batch(source.bank, source.sid, 10**12 - 1))
        for item in self._table.query(ends[0].pk, between=(ends[0].sk, ends[1].sk), backward=True, page=_PAGE):
            if item.get("ttl") is None or item["ttl"] * 1000 > (milliseconds(now) or 0):
                yield _Batch(source, item)

    def _shown(self, batches: list[_Batch], scope: dict[str, str]) -> Iterator[RawEvent]:
        """Yield the events of *batches* with what became of their windows; those of erased ones are gone."""
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
        """Return the sealed windows that *batches* belong to: one query a stream, of the numbers in question."""
        numbers: dict[str, set[int]] = {}
        banks = {batch.source.sid: batch.source.bank for batch in batches}
        for batch in batches:
            numbers.setdefault(batch.source.sid, set()).add(batch.item["win"])
        found: dict[tuple[str, int], Window] = {}
        for sid, wanted in numbers.items():
            ends = (keys.window(banks[sid], sid, min(wanted)), keys.window(banks[sid], sid, max(wanted)))
            for item in self._table.query(ends[0].pk, between=(ends[0].sk, ends[1].sk)):
                found[sid, item["win"]] = codec.window_of(item)
        return found


def _name(head: Head | None, window: Window | None) -> str:
    if head:
        return head.stream.name
    return window.stream.name if window else ""


def _within_bounds(batches: Iterator[_Batch]) -> tuple[list[_Batch], bool]:
    """Return the first of *batches* up to the bounds, and whether there are more."""
    taken: list[_Batch] = []
    events = size = 0
    for batch in batches:
        if events >= MOST_EVENTS or size >= MOST_BYTES:
            return taken, True
        taken.append(batch)
        events += batch.item["n"]
        size += len(bytes(batch.item["d"]))
    return taken, False
