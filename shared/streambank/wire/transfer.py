"""Exports and imports in requests and replies."""

from datetime import datetime
from typing import Annotated, NotRequired

from typing_extensions import TypedDict

from streambank.errors import InvalidArgument
from streambank.model.transfer import MANIFEST, Direction, Transfer, TransferSpec
from streambank.wire import erasure, reader
from streambank.wire.erasure import ConversationIds
from streambank.wire.fields import RequiredId, Scope
from streambank.wire.model import Read, RequestModel
from streambank.wire.operation import OperationError
from streambank.wire.reply import Counts, Time, rfc3339

# google.rpc.Code FAILED_PRECONDITION: what stopped an import will stop it again.
_FAILED = 9
_SOURCE = {
    "type": "string",
    "pattern": r"^[A-Za-z0-9._-]{1,36}/export-[1-9][0-9]{0,11}/manifest\.json$",
    "examples": ["default/export-1/manifest.json"],
}


class ExportRequest(RequestModel):
    """A scope with what goes beside it, or nothing: then everything that the bank holds."""

    scope: Scope | None = None
    user_id: RequiredId | None = None
    conversation_ids: ConversationIds = []

    def spec(self) -> TransferSpec:
        """Return what is exported. Raises InvalidArgument for a user or conversations without a scope."""
        if self.scope is None:
            if self.user_id is not None or self.conversation_ids:
                problem = "is required beside userId and conversationIds; a whole bank has neither"
                raise InvalidArgument("scope", problem)
            return TransferSpec()
        target = erasure.target(self.scope, self.user_id, self.conversation_ids)
        return TransferSpec(self.scope, target.user_id, target.conversation_ids)


class ImportRequest(RequestModel):
    """An export, by the key of its manifest."""

    source: Annotated[str, Read(lambda value, path: reader.text(value, path, least_bytes=1, most_bytes=1_024), _SOURCE)]


class TransferMetadata(TypedDict):
    """How far the job has come."""

    state: str
    startTime: Time
    exported: NotRequired[Counts]
    imported: NotRequired[Counts]


class TransferManifest(TypedDict):
    """What was copied, and the key of the export's manifest."""

    exported: NotRequired[Counts]
    imported: NotRequired[Counts]
    source: str
    endTime: Time


class TransferOperation(TypedDict):
    """Done, or continued by the sweep; GET returns how far it has come."""

    name: str
    done: bool
    metadata: NotRequired[TransferMetadata]
    response: NotRequired[TransferManifest]
    error: NotRequired[OperationError]


def transfer_operation(transfer: Transfer, bank_name: str) -> TransferOperation:
    """Return the operation of an export or an import."""
    is_export = transfer.direction is Direction.EXPORT
    state = "DONE" if transfer.ended else "EXPORTING" if is_export else "IMPORTING"
    metadata = TransferMetadata(state=state, startTime=rfc3339(transfer.started))
    operation = TransferOperation(
        name=f"{bank_name}/operations/{transfer.id}", done=transfer.ended is not None, metadata=metadata
    )
    if is_export:
        metadata["exported"] = dict(transfer.counts)
    else:
        metadata["imported"] = dict(transfer.counts)
    if transfer.ended and transfer.failure is not None:
        operation["error"] = OperationError(code=_FAILED, message=transfer.failure)
    elif transfer.ended:
        operation["response"] = _manifest(transfer, transfer.ended)
    return operation


def _manifest(transfer: Transfer, ended: datetime) -> TransferManifest:
    end, counts = rfc3339(ended), dict(transfer.counts)
    if transfer.direction is Direction.EXPORT:
        return TransferManifest(exported=counts, source=transfer.prefix + MANIFEST, endTime=end)
    return TransferManifest(imported=counts, source=transfer.request.source, endTime=end)
