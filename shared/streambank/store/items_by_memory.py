"""The items of memories, read memory by memory beside the memories themselves."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from itertools import groupby
from typing import Any

from streambank.store import keys


class ItemsByMemory:
    """Revisions or citations in the order of their memories' ids; of a memory the last *most*."""

    def __init__(self, items: Iterable[dict[str, Any]], most: int | None = None) -> None:
        self._most = most
        self._groups = groupby(items, key=lambda item: keys.name_in(item["SK"]))
        self._next: tuple[str, Iterable[dict[str, Any]]] | None = next(self._groups, None)

    def of(self, memory_id: str) -> Iterable[dict[str, Any]]:
        """Return the items of a memory; those of memories before it are skipped."""
        while self._next and self._next[0] < memory_id:
            self._next = next(self._groups, None)
        if self._next is None or self._next[0] != memory_id:
            return ()
        items = deque(self._next[1], maxlen=self._most)
        self._next = next(self._groups, None)
        return items
