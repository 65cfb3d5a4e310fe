"""Memories as a block of text for a prompt, marked so that the service does not extract them again."""

from __future__ import annotations

from collections.abc import Iterable
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


def render_memories(memories: Iterable[str | Memory | RetrievedMemory]) -> str:
    """Return *memories*, one per line, as a block for a prompt; `""` if there are none.

    The service skips such blocks when it extracts memories, so that a memory in a prompt is not extracted again.
    `<`, `>` and `&` in a fact are escaped, so that no fact can end its block.
    """
    lines = [f"- {escape(fact, quote=False)}" for fact in map(_fact, memories) if fact]
    return "\n".join(["<streambank-memory>", *lines, "</streambank-memory>"]) if lines else ""


def _fact(memory: str | Memory | RetrievedMemory) -> str:
    source: Any = getattr(memory, "memory", memory)
    return " ".join((source if isinstance(source, str) else source.fact).split())
