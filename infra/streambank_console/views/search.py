"""A search's results, with their ranking taken apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from streambank_client.types import RetrievedEvent, RetrievedMemories, RetrievedMemory, SearchExplanation
from streambank_console import paths
from streambank_console.views import text
from streambank_console.views.memories import fact_of, topic_name
from streambank_console.views.way import content_text


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a score, from 0 to 1, and what it is worth in words."""

    name: str
    share: float
    words: str


@dataclass(frozen=True, slots=True)
class Ranking:
    """Why a hit is where it is: the parts of its score, the words in common, the turns that matched."""

    parts: tuple[Part, ...]
    words: tuple[str, ...]
    turns: str = ""
    turns_href: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """A hit: a memory, or an event that waits for its memories."""

    rank: int
    kind: str
    text: str
    href: str
    distance: float
    topics: tuple[str, ...]
    at: datetime | None
    ranking: Ranking | None


def results(bank: str, scope: dict[str, str], reply: RetrievedMemories) -> tuple[Result, ...]:
    """Return the hits of both kinds in one ranking, the nearest first."""
    hits = [(one.distance or 0.0, _memory(bank, one)) for one in reply]
    hits += [(one.distance, _event(bank, scope, one)) for one in reply.events]
    hits.sort(key=lambda pair: pair[0])
    return tuple(replace(one, rank=number) for number, (_, one) in enumerate(hits, 1))


def _memory(bank: str, one: RetrievedMemory) -> Result:
    memory, distance = one.memory, one.distance or 0.0
    return Result(
        rank=0,
        kind="memory",
        text=fact_of(memory.fact, memory.structured_content),
        href=paths.memory(bank, memory.name),
        distance=distance,
        topics=tuple(topic_name(topic) for topic in memory.topics),
        at=memory.update_time,
        ranking=_ranking(bank, one.explanation),
    )


def _event(bank: str, scope: dict[str, str], one: RetrievedEvent) -> Result:
    event_id = one.event.event_id
    return Result(
        rank=0,
        kind="pending event" if one.pending else "event",
        text=content_text(one.event.content),
        href=paths.event(bank, scope, one.stream_id, event_id) if event_id else "",
        distance=one.distance,
        topics=(text.visible(one.stream_id),),
        at=one.event.event_time,
        ranking=_ranking(bank, one.explanation),
    )


def _ranking(bank: str, one: SearchExplanation | None) -> Ranking | None:
    if one is None:
        return None
    parts = (("words", one.word_share), ("meaning", one.similarity), ("together", one.score))
    turns = one.matched_turns
    return Ranking(
        parts=tuple(_part(name, value) for name, value in parts),
        words=tuple(text.visible(word) for word in one.matched_words),
        turns=text.visible(text.shortened(turns.text)) if turns else "",
        turns_href=paths.window(bank, turns.operation) if turns else "",
    )


def _part(name: str, value: float | None) -> Part:
    if value is None:
        return Part(name, 0.0, "no part in it")
    return Part(name, max(0.0, min(1.0, value)), f"{round(value, 2) + 0.0:.2f}")


def counts(rows: Sequence[Result]) -> str:
    """Return how many hits of each kind there are."""
    memories = sum(one.kind == "memory" for one in rows)
    return f"{text.count(memories, 'memory', 'memories')}, {text.count(len(rows) - memories, 'event')}"
