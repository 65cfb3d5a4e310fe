"""Splits events into calls that the service accepts, and tells whether an event is why it refused one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from streambank_client.errors import InvalidArgument, PayloadTooLarge

T = TypeVar("T")


def batches(
    events: Iterable[T], size_of: Callable[[T], int], *, most_events: int, most_bytes: int
) -> Iterator[list[T]]:
    """Yield *events* in order, in batches within the limits; an event above *most_bytes* is alone in its batch."""
    batch: list[T] = []
    batch_bytes = 0
    for event in events:
        size = size_of(event)
        if batch and (len(batch) == most_events or batch_bytes + size > most_bytes):
            yield batch
            batch, batch_bytes = [], 0
        batch.append(event)
        batch_bytes += size
    if batch:
        yield batch


def is_caused_by_event(error: Exception) -> bool:
    """Return whether an event is why the service refused a call, and not, for example, a wrong scope."""
    names_event = isinstance(error, InvalidArgument) and error.field.startswith("directContentsSource")
    return names_event or isinstance(error, PayloadTooLarge)
