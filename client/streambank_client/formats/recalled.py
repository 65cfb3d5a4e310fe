"""Recalled memories as text for a prompt, marked so that the service does not remember them again."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any, Protocol


class Recalled(Protocol):
    """A memory: what has a fact."""

    @property
    def fact(self) -> str: ...


class Retrieved(Protocol):
    """A result of a retrieval: what has a memory."""

    @property
    def memory(self) -> Recalled: ...


def render_memories(memories: Iterable[str | Recalled | Retrieved]) -> str:
    """Return *memories*, one a line, as a block to put into a prompt; `""` if there is none.

    The service skips such blocks when it extracts, so what was recalled is not learnt anew from the conversation.
    `<`, `>` and `&` of a fact are escaped: no fact can end its block.
    """
    lines = [f"- {escape(fact, quote=False)}" for fact in map(_fact, memories) if fact]
    return "\n".join(["<streambank-memory>", *lines, "</streambank-memory>"]) if lines else ""


def _fact(memory: str | Recalled | Retrieved) -> str:
    held: Any = getattr(memory, "memory", memory)
    return " ".join((held if isinstance(held, str) else held.fact).split())
