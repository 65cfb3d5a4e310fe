"""Searching a scope: its memories, and its raw events where they are asked for."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from streambank.llm.ports import Embedder
from streambank.model.memory import Memory
from streambank.model.search import EventScan, RawEvent
from streambank.pipeline.memories.listing import OVERHEAD, PAGE_BYTES, weight
from streambank.rules import citations, search_ranking
from streambank.rules.bank_config import bank_config
from streambank.rules.search_ranking import EmbeddedQuery, Hit, SearchEntry
from streambank.store.banks import Banks
from streambank.store.events import Events
from streambank.store.memories import Memories

# How many of the newest events are embedded where that costs next to nothing: a third of a CPU second.
MOST_EMBEDDED = 2_000


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A similarity search: *events* lets raw events take part, *pending* those that no memories were made of yet."""

    text: str
    top_k: int
    events: bool = False
    pending: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """What was found, nearest first; *looked_at* counts the events where the scope has more of them, else 0."""

    hits: Sequence[Hit]
    looked_at: int = 0


def search(
    bank: str,
    scope: Mapping[str, str],
    asked: SearchQuery,
    among: Sequence[Memory],
    *,
    memories: Memories,
    events: Events,
    banks: Banks,
    embedder: Embedder,
    now: datetime,
) -> Answer:
    """Return the best of *among*, which are memories of *scope*, and of the scope's events: one ranking.

    Raises:
        ModelUnavailable: the query could not be embedded.
    """
    looked = _looked(bank, scope, asked, events, now)
    shown = [one for one in looked.events if asked.pending or not one.is_pending]
    if not among and not shown:
        return Answer((), len(looked.events) if looked.is_cut else 0)
    cited = memories.citations(bank, scope, among, now=now) if among else {}
    model = bank_config(banks.document(bank), scope).embedding_model
    query = EmbeddedQuery(asked.text, embedder.embed([asked.text], model=model, for_query=True)[0])
    entries = search_ranking.memory_entries(query, among, cited)
    entries += _event_entries(query, looked.events, shown, entries, embedder)
    best = search_ranking.drop_cited_events(search_ranking.rank(asked.text, entries))
    return Answer(_fitting(best, asked.top_k), len(looked.events) if looked.is_cut else 0)


def _looked(bank: str, scope: Mapping[str, str], asked: SearchQuery, events: Events, now: datetime) -> EventScan:
    if not (asked.events or asked.pending):
        return EventScan()
    return events.of_scope(bank, scope, pending_only=not asked.events, now=now)


def _event_entries(
    query: EmbeddedQuery,
    looked: Sequence[RawEvent],
    shown: Sequence[RawEvent],
    memories: Sequence[SearchEntry],
    embedder: Embedder,
) -> list[SearchEntry]:
    own = looked[:MOST_EMBEDDED] if embedder.is_local else ()
    vectors = embedder.embed([citations.event_line(one.event) for one in own]) if own else []
    places = {one.place for one in shown}
    entries = search_ranking.event_entries(query, looked, vectors, memories)
    return [one for one in entries if isinstance(one.item, RawEvent) and one.item.place in places]


def _fitting(hits: Iterable[Hit], top_k: int) -> list[Hit]:
    """Return the first *top_k* of *hits* that a reply has room for, at least one."""
    filled, shown = 0, list[Hit]()
    for distance, what in hits:
        filled += weight(what) if isinstance(what, Memory) else _event_weight(what)
        if len(shown) == top_k or (shown and filled > PAGE_BYTES):
            break
        shown.append((distance, what))
    return shown


def _event_weight(one: RawEvent) -> int:
    return OVERHEAD + 2 * len(json.dumps(one.event.event.parts))
