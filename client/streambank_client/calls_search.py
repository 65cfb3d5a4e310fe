"""Finding memories, and the events beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from streambank_client import types
from streambank_client.calls import Call, Page, PagedCall, Place, Reply, fields, page
from streambank_client.spelling import JsonObject


def retrieve_memories(
    place: Place,
    /,
    *,
    scope: Mapping[str, str],
    query: str | None = None,
    top_k: int | None = None,
    filter: str | None = None,
    filter_groups: Sequence[Mapping[str, Any]] | None = None,
    memory_types: Sequence[str] | None = None,
    include_events: bool = False,
    include_pending: bool = False,
) -> Call[types.RetrievedMemories]:
    """Return the memories of exactly this scope: those nearest to *query*, or without one the newest, 100 at most.

    `top_k` is 1 to 100; by default 3 with a query, else 100. `include_events` and `include_pending` put raw events
    beside them, which takes a query.

    Raises ValueError where events are asked for without a query.
    """
    if query is None and (include_events or include_pending):
        raise ValueError("include_events and include_pending take a query")
    body = fields(scope=scope, filter=filter, filter_groups=filter_groups, memory_types=memory_types)
    if query is not None:
        body["similaritySearchParams"] = fields(
            search_query=query,
            top_k=top_k,
            include_events=include_events or None,
            include_pending=include_pending or None,
        )
    elif top_k is not None:
        body["simpleRetrievalParams"] = {"pageSize": top_k}
    return Call(method="POST", path=f"{place.path}/memories:retrieve", parse=_retrieved, repeatable=True, body=body)


def retrieve_all_memories(
    place: Place,
    /,
    *,
    scope: Mapping[str, str],
    filter: str | None = None,
    filter_groups: Sequence[Mapping[str, Any]] | None = None,
    memory_types: Sequence[str] | None = None,
    page_size: int = 100,
) -> PagedCall[types.RetrievedMemory]:
    """Return all memories of exactly this scope, newest first, in pages of 1 to 100."""
    body = fields(
        scope=scope,
        filter=filter,
        filter_groups=filter_groups,
        memory_types=memory_types,
        simple_retrieval_params={"pageSize": page_size},
    )
    path, parse = f"{place.path}/memories:retrieve", page(types.RetrievedMemory, "retrievedMemories")
    return PagedCall(Call(method="POST", path=path, parse=parse, repeatable=True, body=body), _at_token)


def retrieve_profiles(place: Place, /, *, scope: Mapping[str, str]) -> Call[dict[str, types.Profile]]:
    """Return the profiles of a scope by their schemas' ids."""
    path = f"{place.path}/memories:retrieveProfiles"
    return Call(method="POST", path=path, parse=_profiles, repeatable=True, body=fields(scope=scope))


def _at_token(call: Call[Page[types.RetrievedMemory]], token: str) -> Call[Page[types.RetrievedMemory]]:
    params: JsonObject = {**call.body["simpleRetrievalParams"], "pageToken": token}
    return replace(call, body={**call.body, "simpleRetrievalParams": params})


def _retrieved(reply: Reply) -> types.RetrievedMemories:
    return types.RetrievedMemories(
        map(types.RetrievedMemory.model_validate, reply.document.get("retrievedMemories") or ()),
        events=map(types.RetrievedEvent.model_validate, reply.document.get("retrievedEvents") or ()),
        effective_top_k=_number(reply, "x-streambank-effective-top-k"),
        events_looked_at=_number(reply, "x-streambank-events-looked-at"),
    )


def _number(reply: Reply, header: str) -> int | None:
    said = reply.headers.get(header, "")
    return int(said) if said.isascii() and said.isdigit() else None


def _profiles(reply: Reply) -> dict[str, types.Profile]:
    return {
        schema: types.Profile.model_validate(said) for schema, said in (reply.document.get("profiles") or {}).items()
    }
