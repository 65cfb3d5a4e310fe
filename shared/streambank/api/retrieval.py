"""Retrieving the memories and profiles of a scope."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import chain

from streambank import tracing
from streambank.api.api_request import ApiRequest
from streambank.api.memories import POSITION, check_scope, cursor, position
from streambank.api.route import Routes, WithHeaders
from streambank.model import ids
from streambank.model.memory import Memory
from streambank.model.principal import Role
from streambank.model.validity import Moment
from streambank.pipeline.memories import listing
from streambank.pipeline.memories.past import in_scopes_at
from streambank.pipeline.memories.search import SearchQuery, search
from streambank.rules.search_ranking import Hit
from streambank.rules.selection import Selection, parse_memory_order, parse_selection
from streambank.wire import memory as wire
from streambank.wire import page_room, search_hits
from streambank.wire.filter_groups import filter_groups
from streambank.wire.memory import Profiles, RetrievedMemories, RetrievedMemory
from streambank.wire.memory_requests import (
    RetrieveProfilesRequest,
    RetrieveRequest,
    SimilaritySearchParams,
    SimpleRetrievalParams,
)
from streambank.wire.reply import rfc3339, without_nulls

routes = Routes()
EFFECTIVE_TOP_K = "x-streambank-effective-top-k"
# How many results are not in the reply, which has no token to go on.
OMITTED = "x-streambank-omitted-results"
SEARCHED_EVENTS = "x-streambank-events-looked-at"
SEARCHED_MEMORIES = "x-streambank-memories-looked-at"
_PROFILES = ("STRUCTURED_PROFILE",)


@routes.post(
    "/memories:retrieve",
    "retrieveMemories",
    "Retrieves the memories of a scope, or of some.",
    role=Role.READ,
    span="search_memory",
)
def retrieve_memories(request: ApiRequest, body: RetrieveRequest) -> WithHeaders[RetrievedMemories]:
    """Return the memories of a scope, or of some: all, a page, or those nearest to a text; as of a time if wanted."""
    bank_id, scopes = request.bank().id, body.all_scopes
    for scope in scopes:
        check_scope(request, scope)
    selected = parse_selection(body.filter, filter_groups(body.filter_groups), tuple(body.memory_types))
    if body.similarity_search_params and body.moment is None:
        return _similar(request, scopes, selected, None, body.similarity_search_params)
    view = _view(request, scopes, selected, body.moment)
    if body.similarity_search_params:
        return _similar(request, scopes, selected, view, body.similarity_search_params)
    if body.simple_retrieval_params:
        at = f" {body.as_of} {body.known_as_of}" if body.moment else ""
        name = f"retrieve {bank_id} {' '.join(map(ids.canonical, scopes))} {selected.text}{at}"
        return _simple(request, name, view, body.simple_retrieval_params)
    return _all(request, view)


@dataclass(frozen=True, slots=True)
class _View:
    """The memories that a retrieval is about, to be read once; *start* is of the history at a *moment* of the past."""

    memories: Iterable[Memory]
    moment: Moment | None = None
    start: datetime | None = None

    @property
    def render(self) -> Callable[[Memory, str], wire.Memory]:
        """Return what makes a memory of the reply."""
        return wire.past_memory if self.moment else wire.memory


def _view(request: ApiRequest, scopes: list[dict[str, str]], selected: Selection, moment: Moment | None) -> _View:
    bank_id, stores, now = request.path.bank, request.stores, request.wiring.now()
    if moment is None:
        each = (listing.each_in_scope(bank_id, one, selected, memories=stores.memories, now=now) for one in scopes)
        return _View(chain.from_iterable(each))
    past = in_scopes_at(
        bank_id, scopes, selected, moment, memories=stores.memories, revisions=stores.scope_revisions, now=now
    )
    return _View(past.memories, moment, past.start)


def _all(request: ApiRequest, view: _View) -> WithHeaders[RetrievedMemories]:
    """Return the newest memories that a reply has room for, without a token: Google's SDK cannot page such a reply."""
    newest, count = listing.newest(view.memories, listing.MAX_TOP_K)
    rows = ((None, memory) for memory in newest)
    page, _ = page_room.page(rows, listing.MAX_TOP_K, partial(_weight, request, view))
    reply = RetrievedMemories(retrievedMemories=_retrieved(request, view, page))
    return _reply(view, reply, _omitted(count - len(page)))


def _omitted(count: int) -> dict[str, str]:
    return {OMITTED: str(count)} if count else {}


def _similar(
    request: ApiRequest,
    scopes: list[dict[str, str]],
    selected: Selection,
    past: _View | None,
    params: SimilaritySearchParams,
) -> WithHeaders[RetrievedMemories]:
    view = past or _View(())
    bank_name = request.path.bank_name
    top_k = min(params.top_k or listing.DEFAULT_TOP_K, listing.MAX_TOP_K)
    query = SearchQuery(
        params.search_query,
        top_k,
        selected,
        events=params.include_events,
        pending=params.include_pending,
        explain=params.explain,
        other_scopes=tuple(scopes[1:]),
        moment=view.moment,
        weigh=partial(_hit_weight, request, view),
    )
    among = list(past.memories) if past else None
    result = search(request.path.bank, scopes[0], query, among, context=request.wiring.search_context())
    reply = RetrievedMemories(
        retrievedMemories=search_hits.retrieved_memories(result.hits, bank_name, result.explanations, view.render)
    )
    if params.include_events or params.include_pending:
        reply["retrievedEvents"] = search_hits.retrieved_events(result.hits, bank_name, result.explanations)
    headers = _omitted(result.omitted) | ({EFFECTIVE_TOP_K: str(top_k)} if params.top_k > top_k else {})
    if result.searched_events:
        headers[SEARCHED_EVENTS] = str(result.searched_events)
    if result.searched_memories:
        headers[SEARCHED_MEMORIES] = str(result.searched_memories)
    return _reply(view, reply, headers)


def _hit_weight(request: ApiRequest, view: _View, hit: Hit, explanations: search_hits.Explanations) -> int:
    bank_name = request.path.bank_name
    rendered = search_hits.retrieved_memories([hit], bank_name, explanations, view.render)
    return page_room.body_bytes(rendered or search_hits.retrieved_events([hit], bank_name, explanations))


def _simple(
    request: ApiRequest, name: str, view: _View, params: SimpleRetrievalParams
) -> WithHeaders[RetrievedMemories]:
    size = min(params.page_size or listing.DEFAULT_TOP_K, listing.MAX_TOP_K)
    order = parse_memory_order(params.order_by)
    name = f"{name} {order}"
    after = cursor(request.position(name, params.page_token, *POSITION))
    page, end = listing.page(view.memories, order, size, after, partial(_weight, request, view))
    token = request.next_page_token(name, position(end))
    reply = RetrievedMemories(retrievedMemories=_retrieved(request, view, page), nextPageToken=token)
    return _reply(view, without_nulls(reply))


def _weight(request: ApiRequest, view: _View, memory: Memory) -> int:
    return page_room.body_bytes(view.render(memory, request.path.bank_name))


def _retrieved(request: ApiRequest, view: _View, memories: Sequence[Memory]) -> list[RetrievedMemory]:
    return [RetrievedMemory(memory=view.render(memory, request.path.bank_name)) for memory in memories]


def _reply(
    view: _View, reply: RetrievedMemories, headers: dict[str, str] | None = None
) -> WithHeaders[RetrievedMemories]:
    tracing.note({tracing.RECORD_COUNT: len(reply["retrievedMemories"])})
    if view.start:
        reply["historyStartTime"] = rfc3339(view.start)
    return WithHeaders(reply, headers or {})


@routes.post(
    "/memories:retrieveProfiles",
    "retrieveProfiles",
    "Retrieves the profiles of a scope, by schema.",
    role=Role.READ,
    span="search_memory",
)
def retrieve_profiles(request: ApiRequest, body: RetrieveProfilesRequest) -> WithHeaders[Profiles]:
    """Return the profiles of a scope, as many as a reply has room for; as of a time if wanted."""
    request.bank()
    check_scope(request, body.scope)
    view = _view(request, [body.scope], parse_selection("", types=_PROFILES), body.moment)
    profiles = sorted(view.memories, key=lambda memory: memory.id)
    rows = ((None, profile) for profile in profiles)
    page, _ = page_room.page(rows, len(profiles), lambda one: page_room.body_bytes(wire.profiles([one])))
    tracing.note({tracing.RECORD_COUNT: len(page)})
    reply = wire.profiles(page)
    if view.start:
        reply["historyStartTime"] = rfc3339(view.start)
    return WithHeaders(reply, _omitted(len(profiles) - len(page)))
