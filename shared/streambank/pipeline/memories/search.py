"""Searching a scope: its memories, and on request its raw events."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache, partial
from itertools import islice

from streambank import telemetry
from streambank.llm.ports import Embedder
from streambank.model.memory import Memory
from streambank.model.search import EventScan, RawEvent, SearchExplanation
from streambank.model.validity import Moment
from streambank.pipeline.generation.token_budget import TokenBudget
from streambank.pipeline.memories.scope_reader import NearText, Pool, ScopeReader, joined
from streambank.rules import citations, moved_tombstones, search_explanation, search_ranking, tombstones
from streambank.rules.bank_config import bank_config
from streambank.rules.grounding import evidence_time
from streambank.rules.keyed_hashes import KeyedHashes
from streambank.rules.search_ranking import EmbeddedQuery, Hit, SearchEntry
from streambank.rules.selection import Selection, parse_selection
from streambank.store.banks import Banks
from streambank.store.events import Events
from streambank.store.memories import Memories
from streambank.wire import page_room

# How many of the newest events are embedded where that costs next to nothing: a third of a CPU second.
MAX_EMBEDDED = 2_000


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A similarity search: *events* includes raw events, *pending* those whose window was not generated yet.

    *other_scopes* are searched beside the first one, and all for the memories of *selection*. *moment* searches the
    past: without the turns that memories cite, of which some are newer, and without later events. *explain* takes the
    scores of the hits apart. *weigh* returns the bytes of a hit and its explanation in the reply.
    """

    text: str
    top_k: int
    selection: Selection = field(default_factory=lambda: parse_selection(""))
    events: bool = False
    pending: bool = False
    explain: bool = False
    other_scopes: tuple[Mapping[str, str], ...] = ()
    moment: Moment | None = None
    weigh: Callable[[Hit, Mapping[object, SearchExplanation]], int] = lambda *_: 0


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The hits, nearest first; *omitted* of the first *top_k* had no room in a reply.

    *searched_events* counts the events if the scope has more than were searched, else it is 0; so does
    *searched_memories*, where memories of a large scope were compared with a filter one by one. *explanations* are by
    the keys of the hits' items, and are empty unless they were requested.
    """

    hits: Sequence[Hit]
    searched_events: int = 0
    searched_memories: int = 0
    omitted: int = 0
    explanations: Mapping[object, SearchExplanation] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SearchContext:
    """What a search needs; *id_secret* is read where raw events are searched."""

    memories: Memories
    reader: ScopeReader
    events: Events
    banks: Banks
    embedder: Embedder
    token_budget: TokenBudget
    id_secret: Callable[[], bytes]
    now: datetime


def search(
    bank: str,
    scope: Mapping[str, str],
    request: SearchQuery,
    past: Sequence[Memory] | None = None,
    *,
    context: SearchContext,
) -> SearchResult:
    """Return the best memories of *scope* and the others, and the best of their events: one ranking.

    A search of the past is among the memories *past*, as they were.

    Raises:
        ModelUnavailable: the query could not be embedded.
        BudgetPaused: the bank's tokens of today are used up.
    """
    scopes = (scope, *request.other_scopes)
    scan = _joined([_scan(bank, one, request, context) for one in scopes])
    scanned = [one for one in scan.events if request.moment is None or is_known(one, request.moment)]
    visible = [one for one in scanned if request.pending or not one.is_pending]
    query_vector = cache(partial(_query_vector, bank, scope, request.text, context))
    pool = joined([_pool(bank, one, request, query_vector, context) for one in scopes]) if past is None else Pool(past)
    result = SearchResult((), len(scan.events) if scan.is_truncated else 0, pool.searched)
    if not pool.memories and not visible:
        return result
    query = EmbeddedQuery(request.text, query_vector())
    entries = search_ranking.memory_entries(query, pool.memories, pool.cited, pool.cited_words)
    if any(memory.vector and entry.similarity is None for memory, entry in zip(pool.memories, entries, strict=True)):
        telemetry.other_vectors(bank)
    entries += _event_entries(query, scanned, visible, entries, context.embedder)
    best = search_ranking.drop_cited_events(search_ranking.rank(request.text, entries, pool.unread))
    nearest = list(islice(best, request.top_k))
    explanations = _explanations(bank, request, entries, nearest, pool, context) if request.explain else {}
    rows = ((None, hit) for hit in nearest)
    hits, _ = page_room.page(rows, request.top_k, lambda hit: request.weigh(hit, explanations))
    return replace(result, hits=hits, omitted=len(nearest) - len(hits), explanations=explanations)


def _pool(
    bank: str, scope: Mapping[str, str], request: SearchQuery, query_vector: Callable[[], bytes], context: SearchContext
) -> Pool:
    """Return the memories of a scope among which the best are looked for."""
    near, matches, is_quoted = partial(_near, request, query_vector), request.selection.matches, request.explain
    return context.reader.pool(bank, scope, near, matches, request.top_k, now=context.now, is_quoted=is_quoted)


def _near(request: SearchQuery, query_vector: Callable[[], bytes]) -> NearText:
    return NearText(request.text, query_vector())


def _explanations(
    bank: str,
    request: SearchQuery,
    entries: Sequence[SearchEntry],
    nearest: Sequence[Hit],
    pool: Pool,
    context: SearchContext,
) -> dict[object, SearchExplanation]:
    """Return the explanations of *entries*; the turns that the nearest memories of a large scope cite are read now."""
    cited = dict(pool.cited)
    for _, hit in nearest:
        if isinstance(hit, Memory) and hit.id in pool.cited_words:
            cited |= context.memories.citations_of_one(bank, hit, now=context.now)
    return search_explanation.explain(request.text, entries, cited, pool.unread)


def _joined(scans: Sequence[EventScan]) -> EventScan:
    """Return the events of several scopes as one scan, newest first."""
    if len(scans) == 1:
        return scans[0]
    events = sorted((one for scan in scans for one in scan.events), key=lambda one: one.event.order(), reverse=True)
    return EventScan(tuple(events), any(scan.is_truncated for scan in scans))


def is_known(event: RawEvent, moment: Moment) -> bool:
    """Tell whether an event is evidence at *moment*, and had arrived."""
    is_evidence = moment.true_at is None or evidence_time(event.event) <= moment.true_at
    return is_evidence and (moment.known_at is None or event.event.arrived <= moment.known_at)


def _query_vector(bank: str, scope: Mapping[str, str], text: str, context: SearchContext) -> bytes:
    config = bank_config(context.banks.document(bank), scope)
    [vector] = context.token_budget.embed(bank, config, [text], context.embedder, now=context.now, for_query=True)
    return vector


def _scan(bank: str, scope: Mapping[str, str], request: SearchQuery, context: SearchContext) -> EventScan:
    if not (request.events or request.pending):
        return EventScan()
    scan = context.events.of_scope(bank, scope, pending_only=not request.events, now=context.now)
    return replace(scan, events=_not_forgotten(bank, scope, scan.events, context)) if scan.events else scan


def _not_forgotten(
    bank: str, scope: Mapping[str, str], events: Sequence[RawEvent], context: SearchContext
) -> tuple[RawEvent, ...]:
    """Return *events* without those that a deleted memory cited."""
    left = context.memories.tombstones(bank, scope, now=context.now)
    if not tombstones.cited_events(left):
        return tuple(events)
    hashes = KeyedHashes.of_scope(context.id_secret(), bank, scope)
    mentions = ((one.stream, one.event.event) for one in events)
    forgotten = tombstones.cited_events(moved_tombstones.with_current_hashes(left, hashes, mentions))
    return tuple(one for one in events if hashes.of_event(one.source[0], one.event.event) not in forgotten)


def _event_entries(
    query: EmbeddedQuery,
    events: Sequence[RawEvent],
    visible: Sequence[RawEvent],
    memories: Sequence[SearchEntry],
    embedder: Embedder,
) -> list[SearchEntry]:
    embedded = events[:MAX_EMBEDDED] if embedder.is_local else ()
    vectors = embedder.embed([citations.event_line(one.event) for one in embedded]) if embedded else []
    sources = {one.source for one in visible}
    entries = search_ranking.event_entries(query, events, vectors, memories)
    return [one for one in entries if isinstance(one.item, RawEvent) and one.item.source in sources]
