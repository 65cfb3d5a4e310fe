"""Fair order of work."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def round_robin(items: Iterable[T], owner: Callable[[T], Hashable]) -> Iterator[T]:
    """Yield *items* so that their owners take turns; those of one owner keep their order."""
    queues: dict[Hashable, deque[T]] = {}
    for item in items:
        queues.setdefault(owner(item), deque()).append(item)
    turns = deque(queues.values())
    while turns:
        queue = turns.popleft()
        yield queue.popleft()
        if queue:
            turns.append(queue)
