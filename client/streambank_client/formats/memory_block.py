"""Memories as a block of text for a prompt, marked so that the service does not extract them again."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from html import escape
from typing import Any, Protocol


class Memory(Protocol):
    """A memory: an object with a fact."""

    @property
    def fact(self) -> str: ...


class RetrievedMemory(Protocol):
    """A result of a retrieval: an object with a memory."""

    @property
    def memory(self) -> Memory: ...


def render_memories(memories: Iterable[str | Memory | RetrievedMemory], *, now: datetime | None = None) -> str:
    """Return *memories*, one per line, as a block for a prompt; `""` if there are none.

    A memory that is over at *now*, by default the time of the call, says until when it held.

    The service skips such blocks when it extracts memories, so that a memory in a prompt is not extracted again.
    `<`, `>` and `&` in a fact are escaped, so that no fact can end its block.
    """
    facts = (_fact(memory, now) for memory in memories)
    lines = [f"- {escape(fact, quote=False)}" for fact in facts if fact]
    return "\n".join(["<streambank-memory>", *lines, "</streambank-memory>"]) if lines else ""


def dated_fact(memory: Memory, now: datetime | None = None) -> str:
    """Return the fact of *memory*, with the day until which it held if it is over at *now*, by default today."""
    end: datetime | None = getattr(memory, "valid_until", None)
    is_over = bool(memory.fact) and end is not None and end <= (now or datetime.now(UTC))
    return f"{memory.fact} (until {end:%Y-%m-%d})" if is_over else memory.fact


def _fact(memory: str | Memory | RetrievedMemory, now: datetime | None) -> str:
    source: Any = getattr(memory, "memory", memory)
    return " ".join((source if isinstance(source, str) else dated_fact(source, now)).split())
