"""Creating, changing, rolling back and purging memories."""

from __future__ import annotations

import re
import secrets

from streambank import tracing
from streambank.api.api_request import ApiRequest
from streambank.api.operations import window_operation
from streambank.api.route import Reach, Routes
from streambank.errors import InvalidArgument, NotFound
from streambank.model import ids
from streambank.model import memory as model
from streambank.model.event import CallMarker
from streambank.model.ids import OperationId
from streambank.model.principal import Role
from streambank.pipeline.memories import purge
from streambank.pipeline.memories.edit import create_memory, roll_back, update_memory
from streambank.pipeline.screening.memories import fingerprint_of_edit, screened_edit
from streambank.rules import access
from streambank.rules.bank_config import bank_config
from streambank.rules.selection import parse_selection
from streambank.wire import parameters
from streambank.wire.filter_groups import filter_groups
from streambank.wire.memory import MemoryOperation, memory
from streambank.wire.memory_requests import (
    CreateMemoryRequest,
    PurgeMemoriesRequest,
    RollbackMemoryRequest,
    UpdateMemoryRequest,
)
from streambank.wire.operation import Operation, PurgeCount, PurgeOperation, WindowOperation

routes = Routes()
_CHANGE = re.compile(r"(?:create|update|rollback|delete)-(0|[1-9][0-9]{0,11})")
_MEMORY_ID = re.compile(parameters.MEMORY_ID_PATTERN)


def _finished(request: ApiRequest, verb: str, changed: model.Memory) -> MemoryOperation:
    bank_name = request.path.bank_name
    name = f"{bank_name}/memories/{changed.id}/operations/{verb}-{changed.revision}"
    return MemoryOperation(name=name, done=True, response=memory(changed, bank_name))


def _checked_id(request: ApiRequest, memory_id: str) -> str:
    """Return *memory_id*. Raises NotFound if the memory is of a scope that the caller may not know of."""
    if request.principal.scope is not None:
        memories = request.stores.memories
        existing = memories.find_or_deleted(request.bank().id, memory_id, now=request.wiring.now())
        if existing and not access.sees(request.principal, existing.scope):
            raise NotFound(f"there is no memory {memory_id!r}")
    return memory_id


@routes.post(
    "/memories",
    "createMemory",
    "Creates a memory.",
    role=Role.EDIT,
    span="create_memory",
    parameters=(parameters.MEMORY_ID, parameters.IDEMPOTENCY_KEY),
    creates=True,
)
def create(request: ApiRequest, body: CreateMemoryRequest) -> MemoryOperation:
    """Create a memory under an id of the caller's, or one derived from the idempotency key, or a random one."""
    created = created_memory(request, body, request.query.get("memoryId", ""), request.idempotency_key)
    tracing.note({tracing.RECORD_ID: created.id})
    return _finished(request, "create", created)


def created_memory(request: ApiRequest, body: CreateMemoryRequest, chosen_id: str, token: str | None) -> model.Memory:
    """Create a memory and return it; the same *token* of an idempotency key creates it once."""
    context = request.wiring.edit_context()
    edit = body.edit(now=context.now)
    access.check_scope(request.principal, body.scope)
    if chosen_id and not _MEMORY_ID.fullmatch(chosen_id):
        raise InvalidArgument("memoryId", "must be 1 to 63 of a-z, 0-9 and -, a letter first and no - last")
    bank, fingerprint = request.bank(), body.body_fingerprint() if token else b""
    if bank.content_policy:
        screened = screened_edit(edit, bank.content_policy, screening=request.wiring.screenings.of(bank.id))
        fingerprint = fingerprint if screened == edit else fingerprint_of_edit(screened, body.scope)
        edit = screened
    bank_id = bank.id
    origin = f"key {token}" if token else f"call {secrets.token_hex(16)}"
    derived_id = ids.secret_id(request.wiring.id_secret, "create", bank_id, ids.canonical(body.scope), origin)
    call = CallMarker(ids.call_key(token), fingerprint) if token else None

    def is_same_call(existing: model.Memory) -> bool:
        """A memory of the same key must have the same body. A chosen id of another key must have the same fact."""
        if call is None or existing.scope != body.scope:
            return False
        if existing.call and existing.call.key == call.key:
            call.check(existing.call)
            return True
        return not chosen_id or existing.fact == edit.fact

    return create_memory(
        bank_id, chosen_id or derived_id, body.scope, edit, call=call, repeats=is_same_call, context=context
    )


@routes.patch(
    "/memories/{memory}",
    "updateMemory",
    "Changes a memory.",
    role=Role.EDIT,
    span="update_memory",
    parameters=(parameters.MEMORY_MASK,),
)
def update(request: ApiRequest, body: UpdateMemoryRequest, memory_id: str) -> MemoryOperation:
    """Change the fields of updateMask, or those of the body."""
    changed = changed_memory(request, body, memory_id, request.query.get("updateMask"))
    return _finished(request, "update", changed)


def changed_memory(request: ApiRequest, body: UpdateMemoryRequest, memory_id: str, mask: str | None) -> model.Memory:
    """Change a memory and return it."""
    context = request.wiring.edit_context()
    edit = body.edit(mask, now=context.now)
    checked_id, bank = _checked_id(request, memory_id), request.bank()
    if bank.content_policy:
        edit = screened_edit(edit, bank.content_policy, screening=request.wiring.screenings.of(bank.id))
    return update_memory(bank.id, checked_id, body.scope, edit, context=context)


@routes.post(
    "/memories/{memory}:rollback",
    "rollbackMemory",
    "Restores the text of a revision.",
    role=Role.EDIT,
    span="update_memory",
)
def rollback(request: ApiRequest, body: RollbackMemoryRequest, memory_id: str) -> MemoryOperation:
    """Make an older revision the newest; a memory that was deleted within 48 hours lives again."""
    number, context = body.number(request.path.bank, memory_id), request.wiring.edit_context()
    checked_id = _checked_id(request, memory_id)
    return _finished(request, "rollback", roll_back(request.bank().id, checked_id, number, context=context))


@routes.get(
    "/memories/{memory}/operations/{operation}",
    "getMemoryOperation",
    "Returns a change of a memory, or the operation of a window.",
)
def get_operation(request: ApiRequest, memory_id: str, operation_id: str) -> Operation:
    """Return a finished operation: a memory changes before the call answers, and is returned as it is now."""
    window = OperationId.parse(operation_id)
    if window:
        return _untyped(window_operation(request, window))
    existing = request.stores.memories.find_or_deleted(request.bank().id, memory_id, now=request.wiring.now())
    match = _CHANGE.fullmatch(operation_id)
    is_visible = existing is not None and access.sees(request.principal, existing.scope)
    if existing is None or not is_visible or match is None or int(match[1]) > existing.revision:
        raise NotFound(f"there is no operation {operation_id!r}")
    bank_name = request.path.bank_name
    response = {} if existing.deleted else {**memory(existing, bank_name)}
    return Operation(name=f"{bank_name}/memories/{memory_id}/operations/{operation_id}", done=True, response=response)


def _untyped(operation: WindowOperation) -> Operation:
    reply = Operation(name=operation["name"], done=operation["done"], metadata={**operation["metadata"]})
    if "response" in operation:
        reply["response"] = {**operation["response"]}
    if "error" in operation:
        reply["error"] = operation["error"]
    return reply


@routes.post(
    "/memories:purge",
    "purgeMemories",
    "Deletes or counts the memories that match.",
    role=Role.EDIT,
    reach=Reach.ALL_SCOPES,
    span="delete_memory",
)
def purge_memories(request: ApiRequest, body: PurgeMemoriesRequest) -> PurgeOperation:
    """Delete or count; done in the first reply, from which Google's SDK reads the count."""
    body.check_not_empty()
    selected = parse_selection(body.filter, filter_groups(body.filter_groups))
    bank_id = request.bank().id
    config = bank_config(request.stores.banks.document(bank_id))
    matching = purge.Purge(bank_id, selected.may_match, selected.matches, config)
    memories, now = request.stores.memories, request.wiring.now()
    if body.force:
        retry_policy, id_secret = request.wiring.deployment.retry_policy, request.wiring.id_secret
        count = purge.delete(matching, memories=memories, retry_policy=retry_policy, id_secret=id_secret, now=now)
        tracing.note({tracing.RECORD_COUNT: count})
    else:
        count = purge.count(matching, memories=memories, now=now)
    name = f"{request.path.bank_name}/operations/purge"
    return PurgeOperation(name=name, done=True, response=PurgeCount(purgeCount=count))
