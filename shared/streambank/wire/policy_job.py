"""Applications of a content policy in replies."""

from typing import NotRequired

from typing_extensions import TypedDict

from streambank.model.policy_job import CHANGED, KEPT, PolicyJob
from streambank.wire.operation import OperationError
from streambank.wire.reply import Time, rfc3339

# google.rpc.Code FAILED_PRECONDITION: there is no policy to apply.
_FAILED = 9


class PolicyMetadata(TypedDict):
    """How far it has come, in stored items; a bank may be walked twice."""

    state: str
    startTime: Time
    changed: int
    kept: int


class PolicyResponse(TypedDict):
    """How many stored items had text removed, and how many did not."""

    changed: int
    kept: int
    endTime: Time


class PolicyOperation(TypedDict):
    """Done, or continued by the sweep; GET returns how far it has come."""

    name: str
    done: bool
    metadata: NotRequired[PolicyMetadata]
    response: NotRequired[PolicyResponse]
    error: NotRequired[OperationError]


def policy_operation(job: PolicyJob, bank_name: str) -> PolicyOperation:
    """Return the operation of an application of a policy."""
    changed, kept = (job.counts.get(kind, 0) for kind in (CHANGED, KEPT))
    state = "DONE" if job.ended else "APPLYING"
    operation = PolicyOperation(
        name=f"{bank_name}/operations/{job.id}",
        done=job.ended is not None,
        metadata=PolicyMetadata(state=state, startTime=rfc3339(job.started), changed=changed, kept=kept),
    )
    if job.ended and job.failure is not None:
        operation["error"] = OperationError(code=_FAILED, message=job.failure)
    elif job.ended:
        operation["response"] = PolicyResponse(changed=changed, kept=kept, endTime=rfc3339(job.ended))
    return operation
