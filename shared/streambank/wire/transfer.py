"""Exports and imports as the wire asks for them and shows them."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from streambank.errors import InvalidArgument
from streambank.model.transfer import MANIFEST, Direction, Transfer, TransferSpec
from streambank.wire import operation
from streambank.wire.erasure import MAX_CONVERSATIONS, EraseScopeRequest, asked
from streambank.wire.ingest import MAX_ID_BYTES
from streambank.wire.ingest import scope as scope_of
from streambank.wire.requests import WireModel
from streambank.wire.times import rfc3339, without_nulls

# google.rpc.Code FAILED_PRECONDITION: what stopped an import will stop it again.
_FAILED = 9


class ExportRequest(WireModel):
    scope: Any = None
    user_id: Annotated[str, Field(min_length=1, max_length=MAX_ID_BYTES)] | None = None
    conversation_ids: Annotated[list[str], Field(max_length=MAX_CONVERSATIONS)] = Field(default_factory=list)


class ImportRequest(WireModel):
    source: Annotated[str, Field(min_length=1, max_length=1_024)]


def wanted(request: ExportRequest) -> TransferSpec:
    """Return what an export takes: all of the bank, or a scope and what an erasure would take with it."""
    if request.scope is None:
        if request.user_id is not None or request.conversation_ids:
            raise InvalidArgument("scope", "is required beside userId and conversationIds; a whole bank has neither")
        return TransferSpec()
    scope = scope_of(request.scope, "scope")
    beside = asked(EraseScopeRequest(user_id=request.user_id, conversation_ids=request.conversation_ids), scope)
    return TransferSpec(scope, beside.user_id, beside.conversation_ids)


def shown(transfer: Transfer, bank_name: str) -> dict[str, Any]:
    """Return the operation of an export or an import."""
    name = f"{bank_name}/operations/{transfer.id}"
    document = _finished(transfer, name) if transfer.ended else {"name": name, "done": False}
    state = "DONE" if transfer.ended else "EXPORTING" if transfer.direction is Direction.EXPORT else "IMPORTING"
    started = {"state": state, "startTime": rfc3339(transfer.started)}
    return {**document, "metadata": without_nulls({**started, _verb(transfer): dict(transfer.counts)})}


def _finished(transfer: Transfer, name: str) -> dict[str, Any]:
    if transfer.failure is not None:
        return {"name": name, "done": True, "error": {"code": _FAILED, "message": transfer.failure}}
    is_export = transfer.direction is Direction.EXPORT
    response: dict[str, object] = {
        _verb(transfer): dict(transfer.counts),
        "source": transfer.prefix + MANIFEST if is_export else transfer.request.source,
        "endTime": rfc3339(transfer.ended),
    }
    return operation.finished(name, without_nulls(response))


def _verb(transfer: Transfer) -> str:
    return "exported" if transfer.direction is Direction.EXPORT else "imported"
