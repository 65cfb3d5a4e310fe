"""The results of a search: memories, and messages of which the service has made no memories yet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from streambank_client.types.memories import RetrievedEvent, RetrievedMemories, RetrievedMemory

MAX_RESULTS = 100
# How many messages that the agent has in its prompt may be nearer than the other results.
_MOST_KNOWN = 20


def requested(top_k: int, *, include_pending: bool) -> int:
    """Return how many results to request for *top_k*: with pending messages more, since some of these are left out."""
    return min(2 * top_k + _MOST_KNOWN, MAX_RESULTS) if include_pending else top_k


def nearest(
    retrieved: RetrievedMemories, top_k: int, *, is_known: Callable[[RetrievedEvent], bool]
) -> list[RetrievedMemory | RetrievedEvent]:
    """Return the nearest *top_k* memories and pending messages, without blank messages and those that are known.

    Messages take at most half of the places of memories: an earlier question is often nearer to a question than its
    answer.
    """
    messages = [hit for hit in retrieved.events if hit.event.content.text.strip() and not is_known(hit)]
    most_messages = max(top_k // 2, top_k - len(retrieved))
    both: list[RetrievedMemory | RetrievedEvent] = [*retrieved, *messages]
    ranked = sorted(both, key=lambda hit: hit.distance or 0.0)
    return list(islice(_with_most(ranked, most_messages), top_k))


def _with_most(
    ranked: list[RetrievedMemory | RetrievedEvent], most_messages: int
) -> Iterator[RetrievedMemory | RetrievedEvent]:
    """Yield the results in their order, without messages after the first *most_messages*."""
    for hit in ranked:
        if isinstance(hit, RetrievedEvent):
            most_messages -= 1
            if most_messages < 0:
                continue
        yield hit
