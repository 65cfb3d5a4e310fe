"""Reindexes in replies."""

from typing import NotRequired

from typing_extensions import TypedDict

from streambank.model.reindex import FAILED, KEPT, REINDEXED, Reindex
from streambank.wire.operation import OperationError
from streambank.wire.reply import Time, rfc3339

# google.rpc.Code FAILED_PRECONDITION: what stopped a reindex will stop it again.
_FAILED = 9


class ReindexMetadata(TypedDict):
    """How far the reindex has come, in memories."""

    state: str
    startTime: Time
    reindexed: int
    kept: int
    failed: int


class ReindexResponse(TypedDict):
    """How many memories got a new vector, kept theirs, or got none from the model."""

    reindexed: int
    kept: int
    failed: int
    endTime: Time


class ReindexOperation(TypedDict):
    """Done, or continued by the sweep; GET returns how far it has come."""

    name: str
    done: bool
    metadata: NotRequired[ReindexMetadata]
    response: NotRequired[ReindexResponse]
    error: NotRequired[OperationError]


def reindex_operation(reindex: Reindex, bank_name: str) -> ReindexOperation:
    """Return the operation of a reindex."""
    reindexed, kept, failed = (reindex.counts.get(kind, 0) for kind in (REINDEXED, KEPT, FAILED))
    operation = ReindexOperation(
        name=f"{bank_name}/operations/{reindex.id}",
        done=reindex.ended is not None,
        metadata=ReindexMetadata(
            state="DONE" if reindex.ended else "REINDEXING",
            startTime=rfc3339(reindex.started),
            reindexed=reindexed,
            kept=kept,
            failed=failed,
        ),
    )
    if reindex.ended and reindex.failure is not None:
        operation["error"] = OperationError(code=_FAILED, message=reindex.failure)
    elif reindex.ended:
        end = rfc3339(reindex.ended)
        operation["response"] = ReindexResponse(reindexed=reindexed, kept=kept, failed=failed, endTime=end)
    return operation
