"""Memories and revisions, read and deleted."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from streambank import tracing, wiring
from streambank.api.asking import bank, body, place, principal, query
from streambank.errors import InvalidArgument, NotFound
from streambank.model import ids
from streambank.model.memory import Memory
from streambank.pipeline.memories import deletion, listing
from streambank.pipeline.memories.listing import MemoryCursor
from streambank.pipeline.memories.search import SearchContext, SearchQuery, search
from streambank.rules import access
from streambank.rules.filtering import Kind, parse
from streambank.rules.selection import order, selection
from streambank.wire import ingest as ingest_wire
from streambank.wire import memory as memory_wire
from streambank.wire import operation, paging, requests
from streambank.wiring import models

ROUTER = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]
EFFECTIVE_TOP_K = "x-streambank-effective-top-k"
EVENTS_LOOKED_AT = "x-streambank-events-looked-at"
_REVISION_FIELDS = {"labels": Kind.TEXT_MAP}


def _shown(memory: Memory) -> dict[str, object]:
    return memory_wire.memory(memory, place(ROUTER).bank_name)


def _after(asked: str, token: str | None) -> MemoryCursor | None:
    where = paging.position(asked, token, (int, int, str), secret=wiring.page_secret())
    return MemoryCursor(*where) if where else None


def _next(asked: str, end: MemoryCursor | None) -> dict[str, str]:
    if end is None:
        return {}
    position = [end.created_ms, end.updated_ms, end.memory_id]
    return {"nextPageToken": paging.token(asked, position, secret=wiring.page_secret())}


def _check_scope(scope: dict[str, str] | None) -> None:
    if scope is None:
        access.check_unbound(principal(ROUTER))
    else:
        access.check_scope(principal(ROUTER), scope)


@ROUTER.get("/bank/memories")
def listed() -> dict[str, Any]:
    bank_id, said = bank(ROUTER), query(ROUTER)
    size = paging.page_size(said.get("pageSize"))
    wanted, ordered = selection(said.get("filter", "")), order(said.get("orderBy"))
    _check_scope(wanted.scope)
    asked = f"memories {bank_id} {wanted.text} {ordered}"
    request = listing.Listing(wanted, ordered, size, _after(asked, said.get("pageToken")))
    shown, end = listing.list_memories(bank_id, request, memories=wiring.stores().memories, now=wiring.now())
    return {"memories": [_shown(memory) for memory in shown], **_next(asked, end)}


@ROUTER.post("/bank/memories:retrieve")
def retrieve() -> dict[str, Any] | Response[Any]:
    sent = body(ROUTER)
    asked = requests.parsed(requests.RetrieveRequest, sent)
    spelled = "filter_groups" if "filter_groups" in sent else "filterGroups"
    bank_id, scope = bank(ROUTER), ingest_wire.scope(asked.scope, "scope")
    _check_scope(scope)
    wanted = selection(asked.filter or "", asked.filter_groups, asked.memory_types, groups_path=spelled)
    if asked.similarity_search_params and asked.simple_retrieval_params:
        raise InvalidArgument("simpleRetrievalParams", "excludes similaritySearchParams")
    found = listing.in_scope(bank_id, scope, wanted, memories=wiring.stores().memories, now=wiring.now())
    if asked.similarity_search_params:
        return _similar(bank_id, scope, found, asked.similarity_search_params)
    if asked.simple_retrieval_params:
        return _simple(f"retrieve {bank_id} {ids.canonical(scope)} {wanted.text}", found, asked.simple_retrieval_params)
    # Everything and no token: Google's SDK cannot page a bare retrieve.
    return _retrieved(found[: listing.MAX_TOP_K])


def _similar(
    bank_id: str, scope: dict[str, str], among: list[Memory], said: requests.SimilaritySearchParams
) -> Response[Any]:
    top_k = min(said.top_k or listing.DEFAULT_TOP_K, listing.MAX_TOP_K)
    asked = SearchQuery(said.search_query, top_k, events=said.include_events, pending=said.include_pending)
    stores = wiring.stores()
    context = SearchContext(stores.memories, stores.events, stores.banks, models.embedder(), wiring.now())
    answer = search(bank_id, scope, asked, among, context=context)
    reply = {"retrievedMemories": memory_wire.retrieved(answer.hits, place(ROUTER).bank_name)}
    tracing.note({tracing.RECORD_COUNT: len(reply["retrievedMemories"])})
    if said.include_events or said.include_pending:
        reply["retrievedEvents"] = memory_wire.retrieved_events(answer.hits)
    headers = {EFFECTIVE_TOP_K: str(top_k)} if said.top_k > top_k else {}
    if answer.searched_events:
        headers[EVENTS_LOOKED_AT] = str(answer.searched_events)
    return Response(200, "application/json", reply, dict(headers))


def _simple(asked_for: str, found: list[Memory], asked: requests.SimpleRetrievalParams) -> dict[str, Any]:
    size = min(asked.page_size or listing.DEFAULT_TOP_K, listing.MAX_TOP_K)
    shown, end = listing.page(found, order(None), size, _after(asked_for, asked.page_token))
    return {**_retrieved(shown), **_next(asked_for, end)}


def _retrieved(found: list[Memory]) -> dict[str, Any]:
    tracing.note({tracing.RECORD_COUNT: len(found)})
    return {"retrievedMemories": [{"memory": _shown(memory)} for memory in found]}


@ROUTER.post("/bank/memories:retrieveProfiles")
def profiles() -> dict[str, Any]:
    asked = requests.parsed(requests.RetrieveProfilesRequest, body(ROUTER))
    bank_id, scope = bank(ROUTER), ingest_wire.scope(asked.scope, "scope")
    _check_scope(scope)
    found = [one for one in wiring.stores().memories.of_scope(bank_id, scope, now=wiring.now()) if one.profile]
    tracing.note({tracing.RECORD_COUNT: len(found)})
    return memory_wire.profiles(found)


def _existing(memory_id: str, *, also_deleted: bool = False) -> Memory:
    memories, now = wiring.stores().memories, wiring.now()
    find = memories.find_or_tombstone if also_deleted else memories.find
    memory = find(bank(ROUTER), memory_id, now=now) if len(memory_id) <= paging.MAX_ID else None
    if memory is None or not access.sees(principal(ROUTER), memory.scope):
        raise NotFound(f"there is no memory {memory_id[: paging.MAX_ID]!r}")
    return memory


@ROUTER.get("/bank/memories/<memory_id>")
def get(memory_id: str) -> dict[str, Any]:
    return _shown(_existing(memory_id))


@ROUTER.delete("/bank/memories/<memory_id>")
def delete(memory_id: str) -> dict[str, Any]:
    stores, known = wiring.stores(), _existing(memory_id)
    gone = deletion.delete_memory(
        place(ROUTER).bank, known.id, memories=stores.memories, retry_policy=stores.retry_policy, now=wiring.now()
    )
    name = f"{place(ROUTER).bank_name}/memories/{memory_id}/operations/delete-{gone.revision}"
    return operation.finished(name, {})


@ROUTER.get("/bank/memories/<memory_id>/revisions")
def revisions(memory_id: str) -> dict[str, Any]:
    memory, said = _existing(memory_id, also_deleted=True), query(ROUTER)
    wanted = parse(said.get("filter", ""), _REVISION_FIELDS)
    size = paging.page_size(said.get("pageSize"))
    asked = f"revisions {place(ROUTER).bank} {memory_id} {wanted}"
    after = paging.position(asked, said.get("pageToken"), (int,), secret=wiring.page_secret())
    found = wiring.stores().memories.revisions(place(ROUTER).bank, memory, now=wiring.now())
    fitting = (one for one in found if wanted.matches({"labels": one.labels}))
    rest = [one for one in fitting if after is None or one.number < after[0]]
    page: dict[str, Any] = {
        "memoryRevisions": [memory_wire.revision(one, place(ROUTER).bank_name) for one in rest[:size]]
    }
    if len(rest) > size:
        page["nextPageToken"] = paging.token(asked, [rest[size - 1].number], secret=wiring.page_secret())
    return page


@ROUTER.get("/bank/memories/<memory_id>/revisions/<revision>")
def revision(memory_id: str, revision: str) -> dict[str, Any]:
    memory = _existing(memory_id, also_deleted=True)
    number = int(revision) if revision.isascii() and revision.isdigit() and len(revision) <= 12 else 0
    found = wiring.stores().memories.revision(place(ROUTER).bank, memory, number, now=wiring.now())
    if found is None:
        raise NotFound(f"there is no revision {revision!r}")
    return memory_wire.revision(found, place(ROUTER).bank_name)
