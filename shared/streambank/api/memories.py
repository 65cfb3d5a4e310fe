"""Memories and their revisions: reading them, and deleting one."""

from __future__ import annotations

from functools import partial
from typing import Any

from streambank.api.api_request import ApiRequest
from streambank.api.route import Routes
from streambank.errors import NotFound
from streambank.model import memory as model
from streambank.model.principal import Role
from streambank.pipeline.memories import cited, deletion, listing
from streambank.pipeline.memories.listing import MemoryCursor
from streambank.rules import access
from streambank.rules.bank_config import bank_config
from streambank.rules.filtering import Kind, parse
from streambank.rules.selection import parse_memory_order, parse_selection
from streambank.wire import memory as wire
from streambank.wire import memory_sources, page_room, paging, parameters
from streambank.wire.memory import Memories, Memory, MemoryRevision, MemoryRevisions
from streambank.wire.reply import Empty, EmptyOperation, without_nulls

routes = Routes()
# The types of what a page token holds of a cursor.
POSITION = (int, int, str, str)
_REVISION_FIELDS = {"labels": Kind.TEXT_MAP}


def cursor(position: list[Any] | None) -> MemoryCursor | None:
    """Return the cursor that a page token holds."""
    if position is None:
        return None
    *key, times = position
    return MemoryCursor(*key, *(int(one) if one else None for one in times.split(",")))


def position(end: MemoryCursor | None) -> list[Any] | None:
    """Return what a page token holds of a cursor."""
    if end is None:
        return None
    times = (end.evidence_ms, end.start_ms, end.end_ms)  # which may be before 1970, or absent
    return [end.created_ms, end.updated_ms, end.memory_id, ",".join("" if one is None else str(one) for one in times)]


def weight(request: ApiRequest, memory: model.Memory) -> int:
    """Return the bytes of *memory* in a reply."""
    return page_room.body_bytes(wire.memory(memory, request.path.bank_name))


def check_scope(request: ApiRequest, scope: dict[str, str] | None) -> None:
    """Raise PermissionDenied if the caller may not read *scope*, or all scopes for None."""
    if scope is None:
        access.check_unbound(request.principal)
    else:
        access.check_scope(request.principal, scope)


def visible_memory(request: ApiRequest, memory_id: str, *, also_deleted: bool = False) -> model.Memory:
    """Return a memory that the caller may know of. Raises NotFound."""
    memories, now = request.stores.memories, request.wiring.now()
    find = memories.find_or_deleted if also_deleted else memories.find
    memory = find(request.bank().id, memory_id, now=now) if len(memory_id) <= paging.MAX_ID else None
    if memory is None or not access.sees(request.principal, memory.scope):
        raise NotFound(f"there is no memory {memory_id[: paging.MAX_ID]!r}")
    return memory


@routes.get(
    "/memories",
    "listMemories",
    "Lists memories, newest first.",
    parameters=(parameters.MEMORY_FILTER, parameters.MEMORY_ORDER, *parameters.PAGE),
)
def list_memories(request: ApiRequest) -> Memories:
    """Return a page of the memories that match a filter."""
    bank_id, query = request.bank().id, request.query
    selected, ordered = parse_selection(query.get("filter", "")), parse_memory_order(query.get("orderBy"))
    check_scope(request, selected.scope)
    name = f"memories {bank_id} {selected.text} {ordered}"
    after = cursor(request.page_position(name, *POSITION))
    page_request = listing.Listing(selected, ordered, request.page_size, after, partial(weight, request))
    page, end = listing.list_memories(bank_id, page_request, memories=request.stores.memories, now=request.wiring.now())
    return without_nulls(
        Memories(
            memories=[wire.memory(memory, request.path.bank_name) for memory in page],
            nextPageToken=request.next_page_token(name, position(end)),
        )
    )


@routes.get("/memories/{memory}", "getMemory", "Returns a memory.")
def get_memory(request: ApiRequest, memory_id: str) -> Memory:
    """Return a memory, with the ids of the events that it cites."""
    memory = visible_memory(request, memory_id)
    event_ids = cited.event_ids(
        request.path.bank, memory_sources.cited_events(memory), windows=request.stores.windows, now=request.wiring.now()
    )
    return wire.memory(memory, request.path.bank_name, event_ids)


@routes.delete(
    "/memories/{memory}",
    "deleteMemory",
    "Deletes a memory; a rollback undoes it.",
    role=Role.EDIT,
    span="delete_memory",
)
def delete_memory(request: ApiRequest, memory_id: str) -> EmptyOperation:
    """Delete a memory."""
    deleted = deleted_memory(request, memory_id)
    name = f"{request.path.bank_name}/memories/{memory_id}/operations/delete-{deleted.revision}"
    return EmptyOperation(name=name, done=True, response=Empty())


def deleted_memory(request: ApiRequest, memory_id: str) -> model.Memory:
    """Delete a memory and return it. Raises NotFound."""
    memory = visible_memory(request, memory_id)
    return deletion.delete_memory(
        request.path.bank,
        memory.id,
        memories=request.stores.memories,
        retry_policy=request.wiring.deployment.retry_policy,
        id_secret=request.wiring.id_secret,
        now=request.wiring.now(),
        config=bank_config(request.stores.banks.document(request.path.bank)),
    )


@routes.get(
    "/memories/{memory}/revisions",
    "listRevisions",
    "Lists the revisions of a memory, newest first.",
    parameters=(parameters.REVISION_FILTER, *parameters.PAGE),
)
def list_revisions(request: ApiRequest, memory_id: str) -> MemoryRevisions:
    """Return a page of a memory's revisions; those of a deleted memory can be read until it is purged."""
    memory = visible_memory(request, memory_id, also_deleted=True)
    labels = parse(request.query.get("filter", ""), _REVISION_FIELDS)
    size, name = request.page_size, f"revisions {request.path.bank} {memory_id} {labels}"
    bank_name = request.path.bank_name
    after = request.page_position(name, int)
    revisions = request.stores.memories.revisions(request.path.bank, memory, now=request.wiring.now())
    matching = (one for one in revisions if labels.matches({"labels": one.labels}))
    rest = ((one.number, wire.revision(one, bank_name)) for one in matching if after is None or one.number < after[0])
    page, end = page_room.page(rest, size, page_room.body_bytes)
    return without_nulls(
        MemoryRevisions(
            memoryRevisions=page,
            nextPageToken=request.next_page_token(name, [end] if end else None),
        )
    )


@routes.get("/memories/{memory}/revisions/{revision}", "getRevision", "Returns a revision.")
def get_revision(request: ApiRequest, memory_id: str, revision_id: str) -> MemoryRevision:
    """Return a revision of a memory."""
    memory = visible_memory(request, memory_id, also_deleted=True)
    number = int(revision_id) if revision_id.isascii() and revision_id.isdigit() and len(revision_id) <= 12 else 0
    revision = request.stores.memories.revision(request.path.bank, memory, number, now=request.wiring.now())
    if revision is None:
        raise NotFound(f"there is no revision {revision_id!r}")
    return wire.revision(revision, request.path.bank_name)
