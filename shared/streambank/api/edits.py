"""Making, changing and rolling back memories."""

from __future__ import annotations

import re
import secrets
from typing import Any

from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from streambank import tracing, wiring
from streambank.api.asking import bank, body, idempotency_key, place, principal, query
from streambank.api.operations import window_operation
from streambank.errors import InvalidArgument, NotFound
from streambank.model import ids
from streambank.model.ids import OperationId
from streambank.model.memory import Memory
from streambank.pipeline.memories import purge
from streambank.pipeline.memories.edit import EditContext, create_memory, roll_back, update_memory
from streambank.rules import access
from streambank.rules.selection import parse_selection
from streambank.wire import edits, operation
from streambank.wire.memory import memory as shown
from streambank.wiring import models

ROUTER = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]
_CHANGE = re.compile(r"(?:create|update|rollback|delete)-(0|[1-9][0-9]{0,11})")
# As Memory Bank asks for: at most 63 of a-z, 0-9 and -, a letter first, no - last.
_MEMORY_ID = re.compile(r"[a-z]([a-z0-9-]{0,61}[a-z0-9])?")


def _using() -> EditContext:
    stores = wiring.stores()
    return EditContext(stores.memories, stores.banks, models.embedder(), stores.retry_policy, wiring.now())


def _finished(verb: str, memory: Memory) -> dict[str, Any]:
    name = f"{place(ROUTER).bank_name}/memories/{memory.id}/operations/{verb}-{memory.revision}"
    return operation.finished(name, dict(shown(memory, place(ROUTER).bank_name)))


def _known(memory_id: str) -> str:
    """Return *memory_id*. Raises NotFound if it is of a scope that the caller does not see."""
    who = principal(ROUTER)
    if who.scope is not None:
        memory = wiring.stores().memories.find_or_tombstone(bank(ROUTER), memory_id, now=wiring.now())
        if memory and not access.sees(who, memory.scope):
            raise NotFound(f"there is no memory {memory_id!r}")
    return memory_id


@ROUTER.post("/bank/memories")
def created() -> dict[str, Any]:
    context = _using()
    scope, edit = edits.created(body(ROUTER), now=context.now)
    access.check_scope(principal(ROUTER), scope)
    token = idempotency_key(ROUTER)
    asked = query(ROUTER).get("memoryId", "")
    if asked and not _MEMORY_ID.fullmatch(asked):
        raise InvalidArgument("memoryId", "must be 1 to 63 of a-z, 0-9 and -, a letter first and no - last")
    derived = "m" + ids.digest("create", ids.canonical(scope), token or secrets.token_hex(16))

    def repeats(known: Memory) -> bool:
        """An id derived from the key is this call's own; one that was asked for must say the same."""
        return token is not None and known.scope == scope and (not asked or known.fact == edit.fact)

    memory = create_memory(bank(ROUTER), asked or derived, scope, edit, repeats=repeats, context=context)
    tracing.note({tracing.RECORD_ID: memory.id})
    return _finished("create", memory)


@ROUTER.patch("/bank/memories/<memory_id>")
def changed(memory_id: str) -> dict[str, Any]:
    context = _using()
    scope, edit = edits.changed(body(ROUTER), query(ROUTER).get("updateMask"), now=context.now)
    return _finished("update", update_memory(bank(ROUTER), _known(memory_id), scope, edit, context=context))


@ROUTER.post("/bank/memories/<memory_id>:rollback")
def rolled_back(memory_id: str) -> dict[str, Any]:
    number = edits.rollback_target(body(ROUTER), memory_id)
    return _finished("rollback", roll_back(bank(ROUTER), _known(memory_id), number, context=_using()))


@ROUTER.get("/bank/memories/<memory_id>/operations/<name>")
def looked_at(memory_id: str, name: str) -> dict[str, Any]:
    """A memory changes before the call answers; whoever asks again is told what it is now."""
    window = OperationId.parse(name)
    if window:
        return window_operation(place(ROUTER), window)
    memory = wiring.stores().memories.find_or_tombstone(bank(ROUTER), memory_id, now=wiring.now())
    is_seen = memory is not None and access.sees(principal(ROUTER), memory.scope)
    found = _CHANGE.fullmatch(name)
    if memory is None or not is_seen or found is None or int(found[1]) > memory.revision:
        raise NotFound(f"there is no operation {name!r}")
    full_name = f"{place(ROUTER).bank_name}/memories/{memory_id}/operations/{name}"
    return operation.finished(full_name, {} if memory.deleted else dict(shown(memory, place(ROUTER).bank_name)))


@ROUTER.post("/bank/memories:purge")
def purged() -> dict[str, Any]:
    """Done in the first reply: Google's SDK reads the count from there."""
    request = edits.purge_request(body(ROUTER))
    wanted = parse_selection(request.filter, request.groups[1], groups_path=request.groups[0])
    asked = purge.Purge(bank(ROUTER), wanted.may_match, wanted.matches)
    stores = wiring.stores()
    count = (
        purge.delete(asked, memories=stores.memories, retry_policy=stores.retry_policy, now=wiring.now())
        if request.force
        else purge.count(asked, memories=stores.memories, now=wiring.now())
    )
    if request.force:
        tracing.note({tracing.RECORD_COUNT: count})
    return operation.finished(f"{place(ROUTER).bank_name}/operations/purge", {"purgeCount": count})
