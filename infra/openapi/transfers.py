"""What an export and an import are asked, and what they answer."""

from typing import Annotated

from pydantic import Field

from infra.openapi.answered import OperationError, Time
from infra.openapi.erasures import Conversations, Counts
from infra.openapi.leaves import Answer, NeededId, Scope
from streambank.wire import transfer


class ExportRequest(transfer.ExportRequest):
    """A scope with what goes beside it, or nothing: then all that the bank holds."""

    scope: Scope | None = None
    user_id: NeededId | None = None
    conversation_ids: Conversations = Field(default_factory=list)


class ImportRequest(transfer.ImportRequest):
    """An export, by the key of its manifest."""

    source: Annotated[
        str,
        Field(
            pattern=r"^[A-Za-z0-9._-]{1,36}/export-[1-9][0-9]{0,11}/manifest\.json$",
            examples=["default/export-1/manifest.json"],
        ),
    ]


class TransferMetadata(Answer):
    """How far it has come."""

    state: str
    start_time: Time
    exported: Counts | None = None
    imported: Counts | None = None


class TransferManifest(Answer):
    """What was carried, and the key of the export's manifest."""

    exported: Counts | None = None
    imported: Counts | None = None
    source: str
    end_time: Time


class TransferOperation(Answer):
    """Done, or gone on with by the sweep; GET shows how far it has come."""

    name: str
    done: bool
    metadata: TransferMetadata | None = None
    response: TransferManifest | None = None
    error: OperationError | None = None
