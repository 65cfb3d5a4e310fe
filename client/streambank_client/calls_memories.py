"""Memories: made, read, changed, and their revisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack
from uuid import uuid4

from streambank_client import types
from streambank_client.arguments import MemoryFields, said
from streambank_client.calls import (
    Call,
    PagedCall,
    Place,
    Told,
    deletion,
    fields,
    headers,
    listing,
    one,
    page,
    texts,
    told_of,
)


def create_memory(
    place: Place,
    /,
    *,
    scope: Mapping[str, str],
    fact: str,
    memory_id: str | None = None,
    idempotency_key: str | None = None,
    **more: Unpack[MemoryFields],
) -> Call[Told[types.Memory]]:
    """Make a memory; its id is the service's, or *memory_id*. Without an idempotency key the client makes one.

    Raises AlreadyExists where the id is taken, or was within 48 hours.
    """
    body = fields(scope=scope, fact=fact) | said(more, MemoryFields)
    return Call(
        method="POST",
        path=f"{place.path}/memories",
        parse=told_of(types.Memory),
        repeatable=True,
        query=texts(memory_id=memory_id),
        body=body,
        headers=headers(x_idempotency_key=idempotency_key or str(uuid4())),
    )


def update_memory(
    place: Place,
    /,
    *,
    memory: str,
    fact: str | None = None,
    scope: Mapping[str, str] | None = None,
    update_mask: Sequence[str] | None = None,
    **more: Unpack[MemoryFields],
) -> Call[Told[types.Memory]]:
    """Change a memory (an id or a name): what is given, or what *update_mask* names; what that names alone is emptied.

    A repeat sets the same values again and may leave one more revision of them.
    """
    body = fields(fact=fact, scope=scope) | said(more, MemoryFields)
    return Call(
        method="PATCH",
        path=place.under("memories", memory).path,
        parse=told_of(types.Memory),
        repeatable=True,
        query=texts(update_mask=None if update_mask is None else ",".join(update_mask)),
        body=body,
    )


def get_memory(place: Place, /, *, memory: str) -> Call[types.Memory]:
    """Return a memory by its id or name."""
    return Call(method="GET", path=place.under("memories", memory).path, parse=one(types.Memory), repeatable=True)


def list_memories(
    place: Place, /, *, filter: str | None = None, order_by: str | None = None, page_size: int | None = None
) -> PagedCall[types.Memory]:
    """List memories, newest first, in pages of 1 to 1,000 (100); ordered by `create_time` or `update_time`."""
    path = f"{place.path}/memories"
    return listing(path, page(types.Memory, "memories"), filter=filter, order_by=order_by, page_size=page_size)


def delete_memory(place: Place, /, *, memory: str) -> Call[Told[types.Nothing]]:
    """Delete a memory; a rollback within 48 hours undoes it."""
    return deletion(place.under("memories", memory))


def rollback_memory(place: Place, /, *, memory: str, target_revision_id: str) -> Call[Told[types.Memory]]:
    """Bring back what a revision (an id or a name) said, as a new revision."""
    return Call(
        method="POST",
        path=f"{place.under('memories', memory).path}:rollback",
        parse=told_of(types.Memory),
        repeatable=True,
        body={"targetRevisionId": target_revision_id},
    )


def purge_memories(
    place: Place,
    /,
    *,
    filter: str | None = None,
    filter_groups: Sequence[Mapping[str, Any]] | None = None,
    force: bool = False,
) -> Call[Told[types.PurgeCount]]:
    """Delete the memories that match, or without *force* only count them; a repeat counts what was left."""
    return Call(
        method="POST",
        path=f"{place.path}/memories:purge",
        parse=told_of(types.PurgeCount),
        repeatable=True,
        body=fields(filter=filter, filter_groups=filter_groups, force=force or None),
    )


def list_revisions(
    place: Place, /, *, memory: str, filter: str | None = None, page_size: int | None = None
) -> PagedCall[types.Revision]:
    """List the revisions of a memory, newest first; a filter is over their labels."""
    path = f"{place.under('memories', memory).path}/revisions"
    return listing(path, page(types.Revision, "memoryRevisions"), filter=filter, page_size=page_size)


def get_revision(place: Place, /, *, memory: str, revision: str) -> Call[types.Revision]:
    """Return a revision of a memory by its id, a number, or its name."""
    where = place.under("memories", memory).under("revisions", revision)
    return Call(method="GET", path=where.path, parse=one(types.Revision), repeatable=True)
