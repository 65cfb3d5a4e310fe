"""The results of a search: memories, and messages of which the service has made no memories yet."""

from __future__ import annotations

from collections.abc import Callable

from streambank_client.types.memories import RetrievedEvent, RetrievedMemories, RetrievedMemory

# How many more results are requested in place of pending messages that the agent has in its prompt.
MOST_KNOWN = 20


def nearest(
    retrieved: RetrievedMemories, top_k: int, *, is_known: Callable[[RetrievedEvent], bool]
) -> list[RetrievedMemory | RetrievedEvent]:
    """Return the nearest *top_k* memories and pending messages, without blank messages and those that are known."""
    messages = [found for found in retrieved.events if found.event.content.text.strip() and not is_known(found)]
    both: list[RetrievedMemory | RetrievedEvent] = [*retrieved, *messages]
    return sorted(both, key=lambda found: found.distance or 0.0)[:top_k]
