"""Reading memories back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from streambank.llm.ports import Embedder
from streambank.model.memory import Memory
from streambank.rules import ranking
from streambank.store.attributes import milliseconds
from streambank.store.memories import Memories

# A similarity search answers three by default and a hundred at most, as Memory Bank does.
DEFAULT_TOP_K = 3
MAX_TOP_K = 100


@dataclass(frozen=True, slots=True)
class Position:
    """Where a page of a list ended: the creation time and the id of its last memory."""

    created_ms: int
    memory_id: str


@dataclass(frozen=True, slots=True)
class Found:
    """A memory that answers, with its distance to the query where there was one."""

    memory: Memory
    distance: float | None = None


def search(
    bank: str,
    scope: Mapping[str, str],
    query: str,
    top_k: int,
    *,
    memories: Memories,
    embedder: Embedder,
    now: datetime,
) -> list[Found]:
    """Return the *top_k* memories of a scope that are nearest to *query*, ascending by distance."""
    live = memories.of_scope(bank, scope, now=now)
    if not live:
        return []
    ranked = ranking.ranked(live, embedder.embed([query])[0])
    return [Found(memory, distance) for distance, memory in ranked[:top_k]]


def in_scope(bank: str, scope: Mapping[str, str], *, memories: Memories, now: datetime) -> list[Memory]:
    """Return all live memories of a scope, newest first."""
    return newest_first(memories.of_scope(bank, scope, now=now))


def newest_first(found: Sequence[Memory]) -> list[Memory]:
    return sorted(found, key=lambda memory: (memory.created, memory.id), reverse=True)


def position_of(memory: Memory) -> Position:
    return Position(milliseconds(memory.created) or 0, memory.id)


def page(found: Sequence[Memory], size: int, after: Position | None) -> tuple[list[Memory], Position | None]:
    """Return the *size* memories of a newest-first list that come after *after*, and where they end if more follow."""
    rest = [memory for memory in found if after is None or _key(memory) < (after.created_ms, after.memory_id)]
    shown = rest[:size]
    return shown, position_of(shown[-1]) if len(rest) > size else None


def _key(memory: Memory) -> tuple[int, str]:
    position = position_of(memory)
    return position.created_ms, position.memory_id


def in_bank(
    bank: str, size: int, after: Position | None, *, memories: Memories, now: datetime
) -> tuple[list[Memory], Position | None]:
    """Return a page of all live memories of a bank, newest first; the index is re-read item by item."""
    shown: list[Memory] = []
    while True:
        keys = memories.listed(bank, size + 1, (after.created_ms, after.memory_id) if after else None)
        shown += memories.read_listed(keys[:size], now=now)
        if len(keys) <= size:
            return shown[:size], position_of(shown[size - 1]) if len(shown) > size else None
        after = Position(*keys[size - 1][:2])
        if len(shown) >= size:
            return shown[:size], position_of(shown[size - 1])
