"""Lists of bounded length."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def batches(things: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield *things* in lists of *size*, each read when the one before was handled."""
    iterator = iter(things)
    while batch := list(islice(iterator, size)):
        yield batch
