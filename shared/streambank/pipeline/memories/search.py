"""Searching a scope: its memories, and on request its raw events."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice

from streambank import telemetry
from streambank.llm.ports import Embedder
from streambank.model.memory import Citation, Memory
from streambank.model.search import EventScan, RawEvent, SearchExplanation
from streambank.model.validity import Moment
from streambank.pipeline.generation.token_budget import TokenBudget
from streambank.rules import citations, moved_tombstones, search_explanation, search_ranking, tombstones
from streambank.rules.bank_config import bank_config
from streambank.rules.grounding import evidence_time
from streambank.rules.keyed_hashes import KeyedHashes
from streambank.rules.search_ranking import EmbeddedQuery, Hit, SearchEntry
from streambank.store.banks import Banks
from streambank.store.events import Events
from streambank.store.memories import Memories
from streambank.wire import page_room

# How many of the newest events are embedded where that costs next to nothing: a third of a CPU second.
MAX_EMBEDDED = 2_000


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A similarity search: *events* includes raw events, *pending* those whose window was not generated yet.

    *other_scopes* are searched beside the first one. *moment* searches the past: without the turns that memories cite,
    of which some are newer, and without later events. *explain* takes the scores of the hits apart. *weigh* returns the
    bytes of a hit and its explanation in the reply.
    """

    text: str
    top_k: int
    events: bool = False
    pending: bool = False
    explain: bool = False
    other_scopes: tuple[Mapping[str, str], ...] = ()
    moment: Moment | None = None
    weigh: Callable[[Hit, Mapping[object, SearchExplanation]], int] = lambda *_: 0


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The hits, nearest first; *omitted* of the first *top_k* had no room in a reply.

    *searched_events* counts the events if the scope has more than were searched, else it is 0. *explanations* are by
    the keys of the hits' items, and are empty unless they were requested.
    """

    hits: Sequence[Hit]
    searched_events: int = 0
    omitted: int = 0
    explanations: Mapping[object, SearchExplanation] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SearchContext:
    """What a search needs; *id_secret* is read where raw events are searched."""

    memories: Memories
    events: Events
    banks: Banks
    embedder: Embedder
    token_budget: TokenBudget
    id_secret: Callable[[], bytes]
    now: datetime


def search(
    bank: str, scope: Mapping[str, str], request: SearchQuery, among: Sequence[Memory], *, context: SearchContext
) -> SearchResult:
    """Return the best of *among*, which are memories of *scope* and the others, and of their events: one ranking.

    Raises:
        ModelUnavailable: the query could not be embedded.
        BudgetPaused: the bank's tokens of today are used up.
    """
    scopes = (scope, *request.other_scopes)
    scan = _joined([_scan(bank, one, request, context) for one in scopes])
    searched_events = len(scan.events) if scan.is_truncated else 0
    scanned = [one for one in scan.events if request.moment is None or is_known(one, request.moment)]
    visible = [one for one in scanned if request.pending or not one.is_pending]
    if not among and not visible:
        return SearchResult((), searched_events)
    cited = _citations(bank, scopes, among, context) if request.moment is None else {}
    query = EmbeddedQuery(request.text, _query_vector(bank, scope, request.text, context))
    entries = search_ranking.memory_entries(query, among, cited)
    if any(memory.vector and entry.similarity is None for memory, entry in zip(among, entries, strict=True)):
        telemetry.other_vectors(bank)
    entries += _event_entries(query, scanned, visible, entries, context.embedder)
    best = search_ranking.drop_cited_events(search_ranking.rank(request.text, entries))
    nearest = list(islice(best, request.top_k))
    explanations = search_explanation.explain(request.text, entries, cited) if request.explain else {}
    rows = ((None, hit) for hit in nearest)
    hits, _ = page_room.page(rows, request.top_k, lambda hit: request.weigh(hit, explanations))
    return SearchResult(hits, searched_events, len(nearest) - len(hits), explanations)


def _joined(scans: Sequence[EventScan]) -> EventScan:
    """Return the events of several scopes as one scan, newest first."""
    if len(scans) == 1:
        return scans[0]
    events = sorted((one for scan in scans for one in scan.events), key=lambda one: one.event.order(), reverse=True)
    return EventScan(tuple(events), any(scan.is_truncated for scan in scans))


def _citations(
    bank: str, scopes: Sequence[Mapping[str, str]], among: Sequence[Memory], context: SearchContext
) -> dict[str, list[Citation]]:
    """Return the citations of *among* by the memories' ids: one query a scope that has any of them."""
    cited: dict[str, list[Citation]] = {}
    for scope in scopes:
        own = [memory for memory in among if memory.scope == scope]
        cited |= context.memories.citations(bank, scope, own, now=context.now) if own else {}
    return cited


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
