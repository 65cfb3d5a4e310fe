"""Memories and revisions."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from streambank import wiring
from streambank.errors import InvalidArgument, NotFound
from streambank.model import ids
from streambank.model.memory import Memory
from streambank.pipeline import forget, recall
from streambank.pipeline.recall import Found, Position
from streambank.rules.filters import listed_scope
from streambank.wire import http, operation, paging, requests
from streambank.wire import ingest as ingest_wire
from streambank.wire import memory as memory_wire

ROUTER = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]
EFFECTIVE_TOP_K = "x-streambank-effective-top-k"


def _place() -> http.Place:
    return ROUTER.context["place"]  # type: ignore[no-any-return]


def _query() -> dict[str, str]:
    return ROUTER.context["event"].get("queryStringParameters") or {}


def _bank() -> str:
    """Return the bank of the route. Raises NotFound if there is none."""
    if wiring.stores().banks.get(_place().bank) is None:
        raise NotFound(f"there is no bank {_place().bank!r}")
    return _place().bank


def _shown(memory: Memory) -> dict[str, object]:
    return memory_wire.memory(memory, _place().bank_name)


@ROUTER.get("/bank/memories")
def listed() -> dict[str, Any]:
    bank, text = _bank(), _query().get("filter")
    if _query().get("orderBy"):
        raise InvalidArgument("orderBy", "lists are ordered by create_time desc; no other order is offered yet")
    size = paging.page_size(_query().get("pageSize"))
    scope = listed_scope(text)
    query = f"memories {bank} {text or ''}"
    where = paging.position(query, _query().get("pageToken"), (int, str))
    after = Position(*where) if where else None
    memories, now = wiring.stores().memories, wiring.now()
    if scope is None:
        shown, end = recall.in_bank(bank, size, after, memories=memories, now=now)
    else:
        found = recall.in_scope(bank, ingest_wire.scope(scope, "filter"), memories=memories, now=now)
        shown, end = recall.page(found, size, after)
    page: dict[str, Any] = {"memories": [_shown(memory) for memory in shown]}
    if end:
        page["nextPageToken"] = paging.token(query, [end.created_ms, end.memory_id])
    return page


@ROUTER.post("/bank/memories:retrieve")
def retrieve() -> dict[str, Any] | Response[Any]:
    asked = requests.parsed(requests.RetrieveRequest, http.body(ROUTER.context["event"]))
    bank = _bank()
    scope = ingest_wire.scope(asked.scope, "scope")
    if asked.similarity_search_params and asked.simple_retrieval_params:
        raise InvalidArgument("simpleRetrievalParams", "excludes similaritySearchParams")
    if asked.similarity_search_params:
        return _similar(bank, scope, asked.similarity_search_params)
    found = recall.in_scope(bank, scope, memories=wiring.stores().memories, now=wiring.now())
    if asked.simple_retrieval_params:
        return _simple(bank, scope, found, asked.simple_retrieval_params)
    # Everything and no token: Google's SDK cannot page a bare retrieve.
    return _retrieved([Found(memory) for memory in found[: recall.MAX_TOP_K]])


def _similar(bank: str, scope: dict[str, str], asked: requests.SimilaritySearchParams) -> Response[Any]:
    top_k = min(asked.top_k or recall.DEFAULT_TOP_K, recall.MAX_TOP_K)
    found = recall.search(
        bank,
        scope,
        asked.search_query,
        top_k,
        memories=wiring.stores().memories,
        embedder=wiring.embedder(),
        now=wiring.now(),
    )
    headers = {EFFECTIVE_TOP_K: str(top_k)} if asked.top_k > top_k else {}
    return Response(200, "application/json", _retrieved(found), dict(headers))


def _simple(
    bank: str, scope: dict[str, str], found: list[Memory], asked: requests.SimpleRetrievalParams
) -> dict[str, Any]:
    size = min(asked.page_size or recall.DEFAULT_TOP_K, recall.MAX_TOP_K)
    query = f"retrieve {bank} {ids.canonical(scope)}"
    where = paging.position(query, asked.page_token, (int, str))
    shown, end = recall.page(found, size, Position(*where) if where else None)
    page = _retrieved([Found(memory) for memory in shown])
    if end:
        page["nextPageToken"] = paging.token(query, [end.created_ms, end.memory_id])
    return page


def _retrieved(found: list[Found]) -> dict[str, Any]:
    rows = ({"memory": _shown(one.memory), "distance": one.distance} for one in found)
    return {"retrievedMemories": [{key: value for key, value in row.items() if value is not None} for row in rows]}


def _existing(memory_id: str, *, also_deleted: bool = False) -> Memory:
    memories, now = wiring.stores().memories, wiring.now()
    find = memories.find_or_tombstone if also_deleted else memories.find
    memory = find(_bank(), memory_id, now=now)
    if memory is None:
        raise NotFound(f"there is no memory {memory_id!r}")
    return memory


@ROUTER.get("/bank/memories/<memory_id>")
def get(memory_id: str) -> dict[str, Any]:
    return _shown(_existing(memory_id))


@ROUTER.delete("/bank/memories/<memory_id>")
def delete(memory_id: str) -> dict[str, Any]:
    stores = wiring.stores()
    gone = forget.delete_memory(
        _bank(), memory_id, memories=stores.memories, patience=stores.patience, now=wiring.now()
    )
    name = f"{_place().bank_name}/memories/{memory_id}/operations/delete-{gone.revision}"
    return operation.finished(name, {})


@ROUTER.get("/bank/memories/<memory_id>/revisions")
def revisions(memory_id: str) -> dict[str, Any]:
    memory = _existing(memory_id, also_deleted=True)
    if _query().get("filter"):
        raise InvalidArgument("filter", "revisions cannot be filtered yet")
    size = paging.page_size(_query().get("pageSize"))
    query = f"revisions {_place().bank} {memory_id}"
    after = paging.position(query, _query().get("pageToken"), (int,))
    found = wiring.stores().memories.revisions(_place().bank, memory, now=wiring.now())
    rest = [one for one in found if after is None or one.number < after[0]]
    page: dict[str, Any] = {"memoryRevisions": [memory_wire.revision(one, _place().bank_name) for one in rest[:size]]}
    if len(rest) > size:
        page["nextPageToken"] = paging.token(query, [rest[size - 1].number])
    return page


@ROUTER.get("/bank/memories/<memory_id>/revisions/<revision>")
def revision(memory_id: str, revision: str) -> dict[str, Any]:
    memory = _existing(memory_id, also_deleted=True)
    number = int(revision) if revision.isascii() and revision.isdigit() and len(revision) <= 12 else 0
    found = wiring.stores().memories.revision(_place().bank, memory, number, now=wiring.now())
    if found is None:
        raise NotFound(f"there is no revision {revision!r}")
    return memory_wire.revision(found, _place().bank_name)
