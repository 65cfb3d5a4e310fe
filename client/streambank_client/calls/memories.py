"""Memories and their revisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack
from uuid import uuid4

from streambank_client import types
from streambank_client.calls.arguments import MemoryFields, settings_fields
from streambank_client.calls.replies import (
    OperationSnapshot,
    delete_call,
    list_call,
    read_object,
    read_operation,
    read_page,
)
from streambank_client.calls.requests import body_fields, header_fields, query_parameters
from streambank_client.calls.resources import ResourcePath
from streambank_client.http.call import Call, PagedCall
from streambank_client.http.encoding import JsonObject


def create_memory(
    resource: ResourcePath,
    /,
    *,
    scope: Mapping[str, str],
    fact: str,
    memory_id: str | None = None,
    idempotency_key: str | None = None,
    **more: Unpack[MemoryFields],
) -> Call[OperationSnapshot[types.Memory]]:
    """Create a memory; the service chooses its id if *memory_id* is not given.

    The client makes an idempotency key if none is given.

    Raises:
        AlreadyExists: the id is taken, or was deleted within 48 hours.
    """
    body = body_fields(scope=scope, fact=fact) | settings_fields(more, MemoryFields)
    return Call(
        method="POST",
        path=f"{resource.path}/memories",
        parse=read_operation(types.Memory),
        repeatable=True,
        query=query_parameters(memory_id=memory_id),
        body=body,
        headers=header_fields(x_idempotency_key=idempotency_key or str(uuid4())),
    )


def update_memory(
    resource: ResourcePath,
    /,
    *,
    memory: str,
    fact: str | None = None,
    scope: Mapping[str, str] | None = None,
    update_mask: Sequence[str] | None = None,
    **more: Unpack[MemoryFields],
) -> Call[OperationSnapshot[types.Memory]]:
    """Change the given fields of a memory (an id or a name), or those of *update_mask*.

    A field that only the mask names is cleared. A repeat sets the same values again and may add one more revision.
    """
    body = body_fields(fact=fact, scope=scope) | settings_fields(more, MemoryFields)
    return Call(
        method="PATCH",
        path=resource.child("memories", memory).path,
        parse=read_operation(types.Memory),
        repeatable=True,
        query=query_parameters(update_mask=None if update_mask is None else ",".join(update_mask)),
        body=body,
    )


def get_memory(resource: ResourcePath, /, *, memory: str) -> Call[types.Memory]:
    """Return a memory by its id or name."""
    return Call(
        method="GET", path=resource.child("memories", memory).path, parse=read_object(types.Memory), repeatable=True
    )


def list_memories(
    resource: ResourcePath, /, *, filter: str | None = None, order_by: str | None = None, page_size: int | None = None
) -> PagedCall[types.Memory]:
    """List memories, newest first, or by a time as `event_time desc`; *page_size* is 1 to 1,000 (100)."""
    path = f"{resource.path}/memories"
    return list_call(path, read_page(types.Memory, "memories"), filter=filter, order_by=order_by, page_size=page_size)


def delete_memory(resource: ResourcePath, /, *, memory: str) -> Call[OperationSnapshot[types.Nothing]]:
    """Delete a memory; a rollback within 48 hours restores it."""
    return delete_call(resource.child("memories", memory))


def batch_create_memories(
    resource: ResourcePath, /, *, requests: Sequence[Mapping[str, Any]], idempotency_key: str | None = None
) -> Call[types.BatchResults]:
    """Create up to 100 memories; each succeeds or fails by itself.

    A request is `{"memory": {"scope": ..., "fact": ...}}`, with `memory_id` if the memory's id is chosen. The client
    makes an idempotency key if none is given; it counts for each request at its place.
    """
    return _batch(
        resource,
        "batchCreate",
        body_fields(requests=requests),
        header_fields(x_idempotency_key=idempotency_key or str(uuid4())),
    )


def batch_update_memories(
    resource: ResourcePath, /, *, requests: Sequence[Mapping[str, Any]]
) -> Call[types.BatchResults]:
    """Change up to 100 memories; each succeeds or fails by itself.

    A request is `{"memory": {"name": ..., "fact": ...}}`, with `update_mask` if a field is cleared.
    """
    return _batch(resource, "batchUpdate", body_fields(requests=requests))


def batch_delete_memories(resource: ResourcePath, /, *, names: Sequence[str]) -> Call[types.BatchResults]:
    """Delete up to 100 memories by name or id; each succeeds or fails by itself."""
    return _batch(resource, "batchDelete", body_fields(names=names))


def _batch(
    resource: ResourcePath, action: str, body: JsonObject, headers: Mapping[str, str] | None = None
) -> Call[types.BatchResults]:
    return Call(
        method="POST",
        path=f"{resource.path}/memories:{action}",
        parse=read_object(types.BatchResults),
        repeatable=True,
        body=body,
        headers=headers or {},
    )


def rollback_memory(
    resource: ResourcePath, /, *, memory: str, target_revision_id: str
) -> Call[OperationSnapshot[types.Memory]]:
    """Restore a memory to a revision (an id or a name), as a new revision."""
    return Call(
        method="POST",
        path=f"{resource.child('memories', memory).path}:rollback",
        parse=read_operation(types.Memory),
        repeatable=True,
        body={"targetRevisionId": target_revision_id},
    )


def purge_memories(
    resource: ResourcePath,
    /,
    *,
    filter: str | None = None,
    filter_groups: Sequence[Mapping[str, Any]] | None = None,
    force: bool = False,
) -> Call[OperationSnapshot[types.PurgeCount]]:
    """Delete the matching memories, or without *force* only count them; a repeat counts those that were left."""
    return Call(
        method="POST",
        path=f"{resource.path}/memories:purge",
        parse=read_operation(types.PurgeCount),
        repeatable=True,
        body=body_fields(filter=filter, filter_groups=filter_groups, force=force or None),
    )


def list_revisions(
    resource: ResourcePath, /, *, memory: str, filter: str | None = None, page_size: int | None = None
) -> PagedCall[types.Revision]:
    """List the revisions of a memory, newest first; *filter* compares their labels."""
    path = f"{resource.child('memories', memory).path}/revisions"
    return list_call(path, read_page(types.Revision, "memoryRevisions"), filter=filter, page_size=page_size)


def get_revision(resource: ResourcePath, /, *, memory: str, revision: str) -> Call[types.Revision]:
    """Return a revision of a memory by its id (a number) or its name."""
    path = resource.child("memories", memory).child("revisions", revision).path
    return Call(method="GET", path=path, parse=read_object(types.Revision), repeatable=True)
