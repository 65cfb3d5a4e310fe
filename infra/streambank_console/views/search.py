"""A search's results, with their ranking taken apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from streambank_client.types import RetrievedEvent, RetrievedMemories, RetrievedMemory
from streambank_console import paths
from streambank_console.views import text
from streambank_console.views.memories import fact_of, topic_name
from streambank_console.views.way import content_text


@dataclass(frozen=True, slots=True)
class Result:
    """A hit: a memory, or an event that waits for its memories."""

    rank: int
    kind: str
    text: str
    href: str
    distance: float
    nearness: float
    topics: tuple[str, ...]
    at: datetime | None


def results(bank: str, scope: dict[str, str], reply: RetrievedMemories) -> tuple[Result, ...]:
    """Return the hits of both kinds in one ranking, the nearest first."""
    hits = [(one.distance or 0.0, _memory(bank, one)) for one in reply]
    hits += [(one.distance, _event(bank, scope, one)) for one in reply.events]
    hits.sort(key=lambda pair: pair[0])
    return tuple(_ranked(number, one) for number, (_, one) in enumerate(hits, 1))


def _ranked(rank: int, one: Result) -> Result:
    return Result(rank, one.kind, one.text, one.href, one.distance, one.nearness, one.topics, one.at)


def _memory(bank: str, one: RetrievedMemory) -> Result:
    memory, distance = one.memory, one.distance or 0.0
    return Result(
        rank=0,
        kind="memory",
        text=fact_of(memory.fact, memory.structured_content),
        href=paths.memory(bank, memory.name),
        distance=distance,
        nearness=_nearness(distance),
        topics=tuple(topic_name(topic) for topic in memory.topics),
        at=memory.update_time,
    )


def _event(bank: str, scope: dict[str, str], one: RetrievedEvent) -> Result:
    event_id = one.event.event_id
    return Result(
        rank=0,
        kind="pending event" if one.pending else "event",
        text=content_text(one.event.content),
        href=paths.event(bank, scope, one.stream_id, event_id) if event_id else "",
        distance=one.distance,
        nearness=_nearness(one.distance),
        topics=(text.visible(one.stream_id),),
        at=one.event.event_time,
    )


def _nearness(distance: float) -> float:
    """Return the cosine score of a distance of unit vectors, from 0 to 1."""
    return max(0.0, min(1.0, 1 - distance * distance / 2))


def counts(found: Sequence[Result]) -> str:
    """Return how many hits of each kind there are."""
    memories = sum(one.kind == "memory" for one in found)
    return f"{text.count(memories, 'memory', 'memories')}, {text.count(len(found) - memories, 'event')}"
