"""Retrieving the memories and profiles of a scope."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from streambank import tracing
from streambank.api.api_request import ApiRequest
from streambank.api.memories import check_scope, cursor, position, weight
from streambank.api.route import Routes, WithHeaders
from streambank.model import ids
from streambank.model.memory import Memory
from streambank.model.principal import Role
from streambank.pipeline.memories import listing
from streambank.pipeline.memories.search import SearchQuery, search
from streambank.rules.search_ranking import Hit
from streambank.rules.selection import parse_memory_order, parse_selection
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
from streambank.wire.reply import without_nulls

routes = Routes()
EFFECTIVE_TOP_K = "x-streambank-effective-top-k"
# How many results are not in the reply, which has no token to go on.
OMITTED = "x-streambank-omitted-results"
SEARCHED_EVENTS = "x-streambank-events-looked-at"


@routes.post(
    "/memories:retrieve",
    "retrieveMemories",
    "Retrieves the memories of a scope, or of some.",
    role=Role.READ,
    span="search_memory",
)
def retrieve_memories(request: ApiRequest, body: RetrieveRequest) -> WithHeaders[RetrievedMemories]:
    """Return the memories of a scope, or of some: all of them, a page, or those nearest to a text."""
    bank_id, scopes = request.bank().id, body.all_scopes
    for scope in scopes:
        check_scope(request, scope)
    selected = parse_selection(body.filter, filter_groups(body.filter_groups), tuple(body.memory_types))
    memories = listing.in_scopes(bank_id, scopes, selected, memories=request.stores.memories, now=request.wiring.now())
    if body.similarity_search_params:
        return _similar(request, scopes, memories, body.similarity_search_params)
    if body.simple_retrieval_params:
        name = f"retrieve {bank_id} {' '.join(map(ids.canonical, scopes))} {selected.text}"
        return _simple(request, name, memories, body.simple_retrieval_params)
    return _all(request, memories)


def _all(request: ApiRequest, memories: Sequence[Memory]) -> WithHeaders[RetrievedMemories]:
    """Return the newest memories that a reply has room for, without a token: Google's SDK cannot page such a reply."""
    page, _ = page_room.page(((None, memory) for memory in memories), listing.MAX_TOP_K, partial(weight, request))
    return _reply(RetrievedMemories(retrievedMemories=_retrieved(request, page)), _omitted(len(memories) - len(page)))


def _omitted(count: int) -> dict[str, str]:
    return {OMITTED: str(count)} if count else {}


def _similar(
    request: ApiRequest, scopes: list[dict[str, str]], memories: Sequence[Memory], params: SimilaritySearchParams
) -> WithHeaders[RetrievedMemories]:
    bank_name = request.path.bank_name
    top_k = min(params.top_k or listing.DEFAULT_TOP_K, listing.MAX_TOP_K)
    query = SearchQuery(
        params.search_query,
        top_k,
        events=params.include_events,
        pending=params.include_pending,
        explain=params.explain,
        other_scopes=tuple(scopes[1:]),
        weigh=partial(_hit_weight, request),
    )
    result = search(request.path.bank, scopes[0], query, memories, context=request.wiring.search_context())
    reply = RetrievedMemories(
        retrievedMemories=search_hits.retrieved_memories(result.hits, bank_name, result.explanations)
    )
    if params.include_events or params.include_pending:
        reply["retrievedEvents"] = search_hits.retrieved_events(result.hits, bank_name, result.explanations)
    headers = _omitted(result.omitted) | ({EFFECTIVE_TOP_K: str(top_k)} if params.top_k > top_k else {})
    if result.searched_events:
        headers[SEARCHED_EVENTS] = str(result.searched_events)
    return _reply(reply, headers)


def _hit_weight(request: ApiRequest, hit: Hit, explanations: search_hits.Explanations) -> int:
    bank_name = request.path.bank_name
    rendered = search_hits.retrieved_memories([hit], bank_name, explanations)
    return page_room.body_bytes(rendered or search_hits.retrieved_events([hit], bank_name, explanations))


def _simple(
    request: ApiRequest, name: str, memories: Sequence[Memory], params: SimpleRetrievalParams
) -> WithHeaders[RetrievedMemories]:
    size = min(params.page_size or listing.DEFAULT_TOP_K, listing.MAX_TOP_K)
    after = cursor(request.position(name, params.page_token, int, int, str))
    page, end = listing.page(memories, parse_memory_order(None), size, after, partial(weight, request))
    token = request.next_page_token(name, position(end))
    return _reply(without_nulls(RetrievedMemories(retrievedMemories=_retrieved(request, page), nextPageToken=token)))


def _retrieved(request: ApiRequest, memories: Sequence[Memory]) -> list[RetrievedMemory]:
    return [RetrievedMemory(memory=wire.memory(memory, request.path.bank_name)) for memory in memories]


def _reply(reply: RetrievedMemories, headers: dict[str, str] | None = None) -> WithHeaders[RetrievedMemories]:
    tracing.note({tracing.RECORD_COUNT: len(reply["retrievedMemories"])})
    return WithHeaders(reply, headers or {})


@routes.post(
    "/memories:retrieveProfiles",
    "retrieveProfiles",
    "Retrieves the profiles of a scope, by schema.",
    role=Role.READ,
    span="search_memory",
)
def retrieve_profiles(request: ApiRequest, body: RetrieveProfilesRequest) -> WithHeaders[Profiles]:
    """Return the profiles of a scope, as many as a reply has room for."""
    bank_id = request.bank().id
    check_scope(request, body.scope)
    memories = request.stores.memories.of_scope(bank_id, body.scope, now=request.wiring.now())
    profiles = [memory for memory in memories if memory.profile]
    rows = ((None, profile) for profile in profiles)
    page, _ = page_room.page(rows, len(profiles), lambda one: page_room.body_bytes(wire.profiles([one])))
    tracing.note({tracing.RECORD_COUNT: len(page)})
    return WithHeaders(wire.profiles(page), _omitted(len(profiles) - len(page)))
