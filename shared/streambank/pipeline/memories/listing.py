"""Reading memories back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from streambank.errors import FailedPrecondition
from streambank.model.memory import Memory
from streambank.rules.filtering import Order
from streambank.rules.selection import DEFAULT_ORDER, Selection, field_values
from streambank.store.attributes import instant, milliseconds
from streambank.store.memories import Memories

# A similarity search answers three by default and a hundred at most, as Memory Bank does.
DEFAULT_TOP_K = 3
MAX_TOP_K = 100
# How many memories of a bank one call looks at: a filter that fits few of them answers a short page and a token.
MOST_LOOKED_AT = 2_000
# How many memories of a bank are put into another order than the index has.
MOST_SORTED = 10_000
# Lambda's reply takes 6 MB; a page ends before, whatever size was asked for.
PAGE_BYTES = 4_000_000
OVERHEAD = 2_000


@dataclass(frozen=True, slots=True)
class MemoryCursor:
    """Where a page ended: the times and the id of its last memory."""

    created_ms: int
    updated_ms: int
    memory_id: str


@dataclass(frozen=True, slots=True)
class Listing:
    """A page that is asked for."""

    selection: Selection
    order: Order
    size: int
    after: MemoryCursor | None = None


Page = tuple[list[Memory], MemoryCursor | None]


def in_scope(
    bank: str, scope: Mapping[str, str], wanted: Selection, *, memories: Memories, now: datetime
) -> list[Memory]:
    """Return the live memories of a scope that are asked for, newest first."""
    found = (memory for memory in memories.of_scope(bank, scope, now=now) if wanted.matches(memory))
    return sorted(found, key=lambda memory: (memory.created, memory.id), reverse=True)


def listed(bank: str, listing: Listing, *, memories: Memories, now: datetime) -> Page:
    """Return a page of a bank's memories: of one scope where the filter pins it, else by way of the index.

    Raises:
        FailedPrecondition: more than 10,000 memories would have to be put into another order.
    """
    scope = listing.selection.scope
    if scope is not None:
        found = in_scope(bank, scope, listing.selection, memories=memories, now=now)
        return page(found, listing.order, listing.size, listing.after)
    if str(listing.order) == DEFAULT_ORDER:
        return _newest(bank, listing, memories, now)
    return page(_all(bank, listing, memories, now), listing.order, listing.size, listing.after)


def page(found: Sequence[Memory], order: Order, size: int, after: MemoryCursor | None) -> Page:
    """Return the *size* memories that come after *after* in *order*, and where they end if more follow.

    The place is found by what the last page ended with, not by counting: deletions between pages skip nothing.
    """
    by_id = sorted(found, key=lambda memory: memory.id, reverse=True)
    rest = order.sorted(by_id, field_values) if after is None else _rest(by_id, order, after)
    shown = fitting(rest[:size])
    return shown, position_of(shown[-1]) if len(rest) > len(shown) else None


def _rest(by_id: Sequence[Memory], order: Order, after: MemoryCursor) -> list[Memory]:
    """Return what comes after *after*: a stand-in for the memory that the last page ended with is sorted in."""
    created, updated = instant(after.created_ms), instant(after.updated_ms)
    if not by_id or created is None or updated is None:
        return []
    mark = replace(by_id[0], id=after.memory_id, created=created, updated=updated)
    place = next((index for index, memory in enumerate(by_id) if memory.id <= after.memory_id), len(by_id))
    ordered = order.sorted([*by_id[:place], mark, *by_id[place:]], field_values)
    start = next(index for index, memory in enumerate(ordered) if memory is mark)
    return [memory for memory in ordered[start + 1 :] if memory.id != after.memory_id]


def position_of(memory: Memory) -> MemoryCursor:
    return MemoryCursor(milliseconds(memory.created) or 0, milliseconds(memory.updated) or 0, memory.id)


def weight(memory: Memory) -> int:
    """Return roughly how many bytes *memory* takes in a reply."""
    return OVERHEAD + 2 * len(memory.fact) + 2 * len(str(memory.metadata))


def fitting(memories: Sequence[Memory]) -> list[Memory]:
    """Return the first of *memories* that a reply has room for, at least one."""
    filled, shown = 0, list[Memory]()
    for memory in memories:
        filled += weight(memory)
        if shown and filled > PAGE_BYTES:
            break
        shown.append(memory)
    return shown


def _newest(bank: str, listing: Listing, memories: Memories, now: datetime) -> Page:
    """Follow the index until the page is full, or enough was looked at."""
    after = (listing.after.created_ms, listing.after.memory_id) if listing.after else None
    shown: list[Memory] = []
    filled = 0
    for looked_at, run in enumerate(_runs(bank, max(listing.size, MAX_TOP_K), after, memories), 1):
        keys, is_last = run
        live = {memory.id: memory for memory in memories.read_listed(keys, now=now)}
        for created_ms, memory_id, _ in keys:
            memory = live.get(memory_id)
            if memory and listing.selection.matches(memory):
                shown.append(memory)
                filled += weight(memory)
            if len(shown) == listing.size or filled > PAGE_BYTES:
                return shown, None if is_last and memory_id == keys[-1][1] else MemoryCursor(created_ms, 0, memory_id)
        if not is_last and looked_at * len(keys) >= MOST_LOOKED_AT:
            return shown, MemoryCursor(keys[-1][0], 0, keys[-1][1])
    return shown, None


def _runs(
    bank: str, size: int, after: tuple[int, str] | None, memories: Memories
) -> Iterator[tuple[list[tuple[int, str, str]], bool]]:
    """Yield the index's entries in runs of *size*, and whether a run is the last."""
    while True:
        keys = memories.listed(bank, size + 1, after)
        yield keys[:size], len(keys) <= size
        if len(keys) <= size:
            return
        after = keys[size - 1][:2]


def _all(bank: str, listing: Listing, memories: Memories, now: datetime) -> list[Memory]:
    keys = memories.everything_listed(bank, MOST_SORTED + 1)
    if len(keys) > MOST_SORTED:
        raise FailedPrecondition(f"more than {MOST_SORTED} memories cannot be put into this order; name a scope")
    return [memory for memory in memories.read_listed(keys, now=now) if listing.selection.matches(memory)]
