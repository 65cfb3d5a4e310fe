"""Search for memories and raw events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from streambank_client import types
from streambank_client.calls.replies import read_page
from streambank_client.calls.requests import body_fields
from streambank_client.calls.resources import ResourcePath
from streambank_client.http.call import Call, JsonReply, Page, PagedCall
from streambank_client.http.encoding import JsonObject


def retrieve_memories(
    resource: ResourcePath,
    /,
    *,
    scope: Mapping[str, str] | None = None,
    scopes: Sequence[Mapping[str, str]] | None = None,
    query: str | None = None,
    top_k: int | None = None,
    filter: str | None = None,
    filter_groups: Sequence[Mapping[str, Any]] | None = None,
    memory_types: Sequence[str] | None = None,
    include_events: bool = False,
    include_pending: bool = False,
    explain: bool = False,
    as_of: datetime | None = None,
    known_as_of: datetime | None = None,
) -> Call[types.RetrievedMemories]:
    """Return memories of exactly this scope: the nearest to *query*, or without a query the newest.

    In place of `scope`, `scopes` names up to five, whose memories are one ranking; each result says its scope.
    `as_of` returns what was true then, and `known_as_of` what the service had learnt by then; together, if wanted.
    `top_k` is 1 to 100; its default is 3 with a query, 100 without. `include_events` and `include_pending` add raw
    events to the result of a query, and `explain` the parts of each score.

    Raises:
        ValueError: events or explanations are requested without a query, or not one of scope and scopes is given.
    """
    _check_scopes(scope, scopes)
    if query is None and (include_events or include_pending or explain):
        raise ValueError("include_events, include_pending and explain need a query")
    body = body_fields(
        scope=scope,
        scopes=scopes,
        filter=filter,
        filter_groups=filter_groups,
        memory_types=memory_types,
        as_of=as_of,
        known_as_of=known_as_of,
    )
    if query is not None:
        flags = {"include_events": include_events, "include_pending": include_pending, "explain": explain}
        body["similaritySearchParams"] = _similarity_params(query, top_k, flags)
    elif top_k is not None:
        body["simpleRetrievalParams"] = {"pageSize": top_k}
    return Call(
        method="POST", path=f"{resource.path}/memories:retrieve", parse=_read_memories, repeatable=True, body=body
    )


def _similarity_params(query: str, top_k: int | None, flags: Mapping[str, bool]) -> JsonObject:
    """Return the parameters of a similarity search; a flag that is not set is left out."""
    return body_fields(search_query=query, top_k=top_k, **{name: True for name, is_set in flags.items() if is_set})


def retrieve_all_memories(
    resource: ResourcePath,
    /,
    *,
    scope: Mapping[str, str] | None = None,
    scopes: Sequence[Mapping[str, str]] | None = None,
    filter: str | None = None,
    filter_groups: Sequence[Mapping[str, Any]] | None = None,
    memory_types: Sequence[str] | None = None,
    page_size: int = 100,
    order_by: str | None = None,
    as_of: datetime | None = None,
    known_as_of: datetime | None = None,
) -> PagedCall[types.RetrievedMemory]:
    """Return all memories of exactly this scope, or of up to five `scopes`; *page_size* is 1 to 100.

    They are newest first, or by *order_by*. `as_of` and `known_as_of` are as in `retrieve_memories`.

    Raises:
        ValueError: not one of scope and scopes is given.
    """
    _check_scopes(scope, scopes)
    body = body_fields(
        scope=scope,
        scopes=scopes,
        filter=filter,
        filter_groups=filter_groups,
        memory_types=memory_types,
        simple_retrieval_params=body_fields(page_size=page_size, order_by=order_by),
        as_of=as_of,
        known_as_of=known_as_of,
    )
    path, parse = f"{resource.path}/memories:retrieve", read_page(types.RetrievedMemory, "retrievedMemories")
    return PagedCall(Call(method="POST", path=path, parse=parse, repeatable=True, body=body), _set_token)


def retrieve_profiles(
    resource: ResourcePath,
    /,
    *,
    scope: Mapping[str, str],
    as_of: datetime | None = None,
    known_as_of: datetime | None = None,
) -> Call[dict[str, types.Profile]]:
    """Return the profiles of a scope by the ids of their schemas, as of a time if one is given."""
    path = f"{resource.path}/memories:retrieveProfiles"
    body = body_fields(scope=scope, as_of=as_of, known_as_of=known_as_of)
    return Call(method="POST", path=path, parse=_read_profiles, repeatable=True, body=body)


def _check_scopes(scope: Mapping[str, str] | None, scopes: Sequence[Mapping[str, str]] | None) -> None:
    if (scope is None) == (scopes is None):
        raise ValueError("give either scope or scopes")


def _set_token(call: Call[Page[types.RetrievedMemory]], token: str) -> Call[Page[types.RetrievedMemory]]:
    params: JsonObject = {**call.body["simpleRetrievalParams"], "pageToken": token}
    return replace(call, body={**call.body, "simpleRetrievalParams": params})


def _read_memories(reply: JsonReply) -> types.RetrievedMemories:
    return types.RetrievedMemories(
        map(types.RetrievedMemory.from_reply, reply.document.get("retrievedMemories") or ()),
        events=map(types.RetrievedEvent.from_reply, reply.document.get("retrievedEvents") or ()),
        effective_top_k=_header_number(reply, "x-streambank-effective-top-k"),
        events_looked_at=_header_number(reply, "x-streambank-events-looked-at"),
        memories_looked_at=_header_number(reply, "x-streambank-memories-looked-at"),
        history_start_time=_time(reply.document.get("historyStartTime")),
    )


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _header_number(reply: JsonReply, header: str) -> int | None:
    text = reply.headers.get(header, "")
    return int(text) if text.isascii() and text.isdigit() else None


def _read_profiles(reply: JsonReply) -> dict[str, types.Profile]:
    return {
        schema: types.Profile.from_reply(profile) for schema, profile in (reply.document.get("profiles") or {}).items()
    }
