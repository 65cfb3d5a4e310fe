"""The hits of a search in a reply: memories, and raw events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from streambank.model.memory import Memory
from streambank.model.search import RawEvent, SearchExplanation
from streambank.rules.search_ranking import Hit, item_key
from streambank.wire import memory as wire
from streambank.wire.memory import RawContent, RetrievedEvent, RetrievedMemory
from streambank.wire.reply import rfc3339, without_nulls
from streambank.wire.search_explanation import search_explanation

Explanations = Mapping[object, SearchExplanation]
Render = Callable[[Memory, str], wire.Memory]


def retrieved_memories(
    hits: Iterable[Hit], bank_name: str, explanations: Explanations, render: Render = wire.memory
) -> list[RetrievedMemory]:
    """Return the memories among *hits*."""
    return [
        without_nulls(
            RetrievedMemory(
                memory=render(one, bank_name),
                distance=distance,
                explanation=search_explanation(explanations.get(item_key(one)), bank_name),
            )
        )
        for distance, one in hits
        if isinstance(one, Memory)
    ]


def retrieved_events(hits: Iterable[Hit], bank_name: str, explanations: Explanations) -> list[RetrievedEvent]:
    """Return the events among *hits*."""
    return [
        _retrieved_event(one, distance, bank_name, explanations) for distance, one in hits if isinstance(one, RawEvent)
    ]


def _retrieved_event(one: RawEvent, distance: float, bank_name: str, explanations: Explanations) -> RetrievedEvent:
    event = one.event.event
    return without_nulls(
        RetrievedEvent(
            event=without_nulls(
                wire.RawEvent(
                    eventId=event.event_id,
                    eventTime=rfc3339(event.time or one.event.arrived),
                    content=RawContent(role=event.role, parts=list(event.parts)),
                )
            ),
            scope=one.stream.scope,
            streamId=one.stream.name,
            window=one.window,
            sequence=one.event.seq,
            pending=one.is_pending,
            distance=distance,
            explanation=search_explanation(explanations.get(item_key(one)), bank_name),
        )
    )
