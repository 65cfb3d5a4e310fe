"""Events into calls that the service takes, and whose fault it is where it does not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from streambank_client.errors import InvalidArgument, PayloadTooLarge

T = TypeVar("T")


def in_calls(
    events: Iterable[T], size_of: Callable[[T], int], *, most_events: int, most_bytes: int
) -> Iterator[list[T]]:
    """Yield *events* in order, in as many calls as they need; one that is larger than a call has a call of its own."""
    call: list[T] = []
    filled = 0
    for event in events:
        size = size_of(event)
        if call and (len(call) == most_events or filled + size > most_bytes):
            yield call
            call, filled = [], 0
        call.append(event)
        filled += size
    if call:
        yield call


def is_of_an_event(error: Exception) -> bool:
    """Tell whether an event is to blame: a wrong scope or rule would refuse any other event too."""
    is_named = isinstance(error, InvalidArgument) and error.field.startswith("directContentsSource")
    return is_named or isinstance(error, PayloadTooLarge)
