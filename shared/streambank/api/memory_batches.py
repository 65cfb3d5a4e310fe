"""Creating, changing and deleting many memories in one call: each succeeds or fails by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from streambank.api import memories, memory_changes
from streambank.api.api_request import ApiRequest
from streambank.api.route import Routes
from streambank.errors import Unavailable
from streambank.model.principal import Role
from streambank.wire import memory_batches as wire
from streambank.wire import parameters
from streambank.wire.memory import memory
from streambank.wire.memory_batches import (
    BatchCreateMemoriesRequest,
    BatchDeleteMemoriesRequest,
    BatchItemCreate,
    BatchItemUpdate,
    BatchResult,
    BatchResults,
    BatchUpdateMemoriesRequest,
)

routes = Routes()
# API Gateway waits for 30 s, and a request that has begun may wait for a model.
TIME_LIMIT = timedelta(seconds=15)


@routes.post(
    "/memories:batchCreate",
    "batchCreateMemories",
    "Creates up to 100 memories.",
    role=Role.EDIT,
    span="create_memory",
    parameters=(parameters.IDEMPOTENCY_KEY,),
)
def batch_create(request: ApiRequest, body: BatchCreateMemoriesRequest) -> BatchResults:
    """Create memories; the idempotency key counts for each request at its place in the batch."""
    token = request.idempotency_key

    def create(value: Any, index: int) -> BatchResult:
        one = wire.item(BatchItemCreate, value, index)
        own_token = f"{token}\n{index}" if token else None
        created = memory_changes.created_memory(request, one.memory, one.memory_id, own_token)
        return BatchResult(memory=memory(created, request.path.bank_name))

    return _in_turn(request, body.requests, create)


@routes.post(
    "/memories:batchUpdate",
    "batchUpdateMemories",
    "Changes up to 100 memories.",
    role=Role.EDIT,
    span="update_memory",
)
def batch_update(request: ApiRequest, body: BatchUpdateMemoriesRequest) -> BatchResults:
    """Change the memories that the requests name."""

    def update(value: Any, index: int) -> BatchResult:
        one = wire.item(BatchItemUpdate, value, index)
        memory_id = wire.memory_id(one.memory.name, request.path.bank, f"requests[{index}].memory.name")
        changed = memory_changes.changed_memory(request, one.memory, memory_id, one.update_mask)
        return BatchResult(memory=memory(changed, request.path.bank_name))

    return _in_turn(request, body.requests, update)


@routes.post(
    "/memories:batchDelete",
    "batchDeleteMemories",
    "Deletes up to 100 memories; a rollback undoes each.",
    role=Role.EDIT,
    span="delete_memory",
)
def batch_delete(request: ApiRequest, body: BatchDeleteMemoriesRequest) -> BatchResults:
    """Delete the memories that are named."""

    def delete(value: Any, index: int) -> BatchResult:
        memory_id = wire.memory_id(value, request.path.bank, f"names[{index}]")
        deleted = memories.deleted_memory(request, memory_id)
        return BatchResult(name=f"{request.path.bank_name}/memories/{deleted.id}")

    return _in_turn(request, body.names, delete)


def _in_turn(request: ApiRequest, values: Sequence[Any], change: Callable[[Any, int], BatchResult]) -> BatchResults:
    """Return the result of each change; those that the time limit leaves no time for are told to be sent again."""
    request.bank()
    end = request.wiring.now() + TIME_LIMIT

    def try_change(value: Any, index: int) -> BatchResult:
        if request.wiring.now() >= end:
            raise Unavailable("the batch took too long; send this request again")
        return change(value, index)

    return wire.within_room(
        [wire.result(lambda: try_change(value, index)) for index, value in enumerate(values)]  # noqa: B023
    )
