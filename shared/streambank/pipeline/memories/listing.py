"""Reading and listing memories."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from streambank.errors import FailedPrecondition
from streambank.model.memory import Memory
from streambank.model.validity import Validity
from streambank.rules.batches import batches
from streambank.rules.filtering import Order
from streambank.rules.selection import DEFAULT_ORDER, Selection, field_values
from streambank.store.attributes import instant, milliseconds
from streambank.store.codec import instant_of
from streambank.store.list_index import ListEntry
from streambank.store.memories import Memories
from streambank.wire import page_room
from streambank.wire.page_room import PageRoom, weightless

# A similarity search returns three memories by default and a hundred at most, as Memory Bank does.
DEFAULT_TOP_K = 3
MAX_TOP_K = 100
# How many memories of a bank one call reads: with a filter that matches few of them, a page is short and has a token.
MAX_READ = 2_000
# How many memories of a bank are sorted in another order than the index has.
MAX_SORTED = 10_000
# How many memories of a scope are sorted together.
_RUN = 5_000


@dataclass(frozen=True, slots=True)
class MemoryCursor:
    """The end of a page: the times and the id of its last memory."""

    created_ms: int
    updated_ms: int
    memory_id: str
    evidence_ms: int = 0
    start_ms: int | None = None
    end_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """The request for a page; *weigh* returns the bytes of a memory in the reply."""

    selection: Selection
    order: Order
    size: int
    after: MemoryCursor | None = None
    weigh: Callable[[Memory], int] = weightless


Page = tuple[list[Memory], MemoryCursor | None]


def each_in_scope(
    bank: str, scope: Mapping[str, str], selection: Selection, *, memories: Memories, now: datetime
) -> Iterator[Memory]:
    """Yield the live memories of a scope that *selection* matches, page by page."""
    return (memory for memory in memories.each_of_scope(bank, scope, now=now) if selection.matches(memory))


def newest(memories: Iterable[Memory], count: int) -> tuple[list[Memory], int]:
    """Return the newest *count* of *memories*, and how many there are in all; no more than a run is held at once."""
    total, best = 0, list[Memory]()
    for run in batches(memories, _RUN):
        total += len(run)
        best = heapq.nlargest(count, [*best, *run], key=lambda memory: (memory.created, memory.id))
    return best, total


def list_memories(bank: str, listing: Listing, *, memories: Memories, now: datetime) -> Page:
    """Return a page of a bank's memories: of one scope where the filter names it, else from the index.

    Raises:
        FailedPrecondition: more than 10,000 memories would have to be sorted in another order than the index has.
    """
    scope = listing.selection.scope
    if scope is not None:
        matching = each_in_scope(bank, scope, listing.selection, memories=memories, now=now)
        return page(matching, listing.order, listing.size, listing.after, listing.weigh)
    if str(listing.order) == DEFAULT_ORDER:
        return _newest(bank, listing, memories, now)
    return page(_all(bank, listing, memories, now), listing.order, listing.size, listing.after, listing.weigh)


def page(
    memories: Iterable[Memory],
    order: Order,
    size: int,
    after: MemoryCursor | None,
    weigh: Callable[[Memory], int] = weightless,
) -> Page:
    """Return at most *size* memories that come after *after* in *order*, and where they end if more follow.

    A page begins after the last memory of the page before, and not at a number: deletions between pages skip nothing.
    No more memories than a run and a page are held at once.
    """
    rest = list[Memory]()
    for run in batches(memories, _RUN):
        by_id = sorted([*rest, *run], key=lambda memory: memory.id, reverse=True)
        ordered = order.sorted(by_id, field_values) if after is None else _rest(by_id, order, after)
        rest = ordered[: size + 1]
    return page_room.page(((cursor_of(memory), memory) for memory in rest), size, weigh)


def _rest(by_id: Sequence[Memory], order: Order, after: MemoryCursor) -> list[Memory]:
    """Return the memories after *after*: a marker with its times and id is sorted in among them."""
    if not by_id:
        return []
    marker = _marker(by_id[0], after)
    index = next((index for index, memory in enumerate(by_id) if memory.id <= after.memory_id), len(by_id))
    ordered = order.sorted([*by_id[:index], marker, *by_id[index:]], field_values)
    start = next(index for index, memory in enumerate(ordered) if memory is marker)
    return [memory for memory in ordered[start + 1 :] if memory.id != after.memory_id]


def _marker(memory: Memory, after: MemoryCursor) -> Memory:
    """Return *memory* with the id and the times of a cursor."""
    return replace(
        memory,
        id=after.memory_id,
        created=instant_of(after.created_ms),
        updated=instant_of(after.updated_ms),
        as_of=instant_of(after.evidence_ms),
        validity=Validity(instant(after.start_ms), instant(after.end_ms)),
    )


def cursor_of(memory: Memory) -> MemoryCursor:
    return MemoryCursor(
        milliseconds(memory.created) or 0,
        milliseconds(memory.updated) or 0,
        memory.id,
        milliseconds(memory.as_of) or 0,
        milliseconds(memory.validity.start),
        milliseconds(memory.validity.end),
    )


def _newest(bank: str, listing: Listing, memories: Memories, now: datetime) -> Page:
    """Return a page in the order of the index; it is short where 2,000 memories were read before it was full."""
    after = (listing.after.created_ms, listing.after.memory_id) if listing.after else None
    newest, end = list[Memory](), None
    room = PageRoom(listing.size, listing.weigh)
    for number, (listed, is_last) in enumerate(_runs(bank, max(listing.size, MAX_TOP_K), after, memories), 1):
        live = {memory.id: memory for memory in memories.read_listed(bank, listed, now=now)}
        for entry in listed:
            memory = live.get(entry.name)
            if memory and listing.selection.matches(memory):
                if not room.admits(memory):
                    return newest, end
                newest.append(memory)
            end = _cursor_behind(entry)
            if len(newest) == listing.size:
                return newest, None if is_last and entry == listed[-1] else end
        if not is_last and number * len(listed) >= MAX_READ:
            return newest, _cursor_behind(listed[-1])
    return newest, None


def _cursor_behind(entry: ListEntry) -> MemoryCursor:
    return MemoryCursor(entry.created_ms, 0, entry.name)


def _runs(
    bank: str, size: int, after: tuple[int, str] | None, memories: Memories
) -> Iterator[tuple[list[ListEntry], bool]]:
    """Yield the index's entries in runs of *size*, each with whether it is the last."""
    while True:
        listed = memories.listed(bank, size + 1, after)
        yield listed[:size], len(listed) <= size
        if len(listed) <= size:
            return
        after = listed[size - 1][:2]


def _all(bank: str, listing: Listing, memories: Memories, now: datetime) -> list[Memory]:
    listed = memories.everything_listed(bank, MAX_SORTED + 1)
    if len(listed) > MAX_SORTED:
        raise FailedPrecondition(f"more than {MAX_SORTED} memories cannot be sorted in this order; name a scope")
    return [memory for memory in memories.read_listed(bank, listed, now=now) if listing.selection.matches(memory)]
