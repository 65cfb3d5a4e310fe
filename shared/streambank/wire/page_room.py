"""How much a page holds: so many items, and as many bytes as a reply of Lambda has room for."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from itertools import takewhile
from typing import Any, Generic, TypeVar

# Lambda takes 6 MB, and `http.response` adds at most a third to the bytes of a body: this leaves more than a megabyte.
PAGE_BYTES = 3_500_000

P = TypeVar("P")
T = TypeVar("T")


def body_bytes(document: Any) -> int:
    """Return the bytes of *document* in the body of a reply."""
    # The comma behind an item is one more.
    return len(json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")) + 1


def weightless(_item: object) -> int:
    """Return 0: the weight of items that go into no reply."""
    return 0


class PageRoom(Generic[T]):
    """The room that is left on a page for *size* items of *most_bytes*; *weigh* returns the bytes of an item."""

    def __init__(self, size: int, weigh: Callable[[T], int], most_bytes: int = PAGE_BYTES) -> None:
        self._most_bytes = most_bytes
        self._size = size
        self._weigh = weigh
        self._count = 0
        self._bytes = 0

    def admits(self, item: T) -> bool:
        """Tell whether *item* has room, and take the room if so; the first item always has."""
        weight = self._weigh(item) if self._count < self._size else 0
        if self._count == self._size or (self._count and self._bytes + weight > self._most_bytes):
            return False
        self._count += 1
        self._bytes += weight
        return True


def page(
    rows: Iterable[tuple[P, T]], size: int, weigh: Callable[[T], int] = weightless, most_bytes: int = PAGE_BYTES
) -> tuple[list[T], P | None]:
    """Return the first of *rows* that a page has room for, and the cursor of the last one if more follow."""
    room, items, end = PageRoom(size, weigh, most_bytes), list[T](), None
    for cursor, item in rows:
        if not room.admits(item):
            return items, end
        items.append(item)
        end = cursor
    return items, None


def first(items: Iterable[T], most_bytes: int) -> list[T]:
    """Return the first of *items* that *most_bytes* of a reply have room for."""
    room = PageRoom(sys.maxsize, body_bytes, most_bytes)
    return list(takewhile(room.admits, items))
