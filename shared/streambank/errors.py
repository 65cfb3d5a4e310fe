"""Everything that can go wrong, one tree.

StreambankError
├── InvalidArgument          the caller's input; names the field
│   └── PayloadTooLarge
├── Unauthenticated          nobody knows who calls
├── PermissionDenied         it is known who calls, and that they may not
├── FailedPrecondition       the input is fine, the state is not
│   └── PreconditionFailed   it is not the version that the caller expects
├── NotFound
├── MethodNotAllowed         the path has other methods; names them
├── AlreadyExists
│   └── KeyReused            an idempotency key came again with another body
├── Unavailable              try again; says after how many seconds
│   ├── Conflict             a condition did not hold: nothing was written
│   │   └── IdTaken          other memories have the ids of new ones
│   │   └── HeadBehind       a stream's items were ahead of its head
│   ├── OutOfReach           a throttle, a timeout: nobody knows what happened
│   ├── NotIndexed           the table's vector index cannot be searched
│   └── SchemaTooNew         an item of a newer release, in a form that is not ours
└── GenerationError          a window could not be generated
    ├── ModelRejected        the request is wrong for this model
    ├── ModelUnavailable     out of reach
    │   ├── ModelThrottled   it took no more requests, also after a while
    │   └── ModelTimedOut    it did not answer in time
    ├── ModelOutputInvalid   the answer could not be used
    │   ├── ModelOutputTruncated   there was no room for the answer
    │   └── ModelVectorsInvalid    not one vector of one length for each text
    ├── ModelRefused         a guardrail or a content filter stopped it
    ├── ModelNotConfigured   this deployment has no such model
    ├── EventsMissing        not all events of the window are stored
    └── BudgetPaused         the bank has used up its tokens for today
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class StreambankError(Exception):
    """Root of the tree; the message is shown to callers and quotes no event text."""


class InvalidArgument(StreambankError):
    """The caller's input breaks a rule; *field* is its path in the caller's own spelling."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}" if field else problem)
        self.field = field
        self.problem = problem


class PayloadTooLarge(InvalidArgument):
    """The body is larger than the service takes."""


class Unauthenticated(StreambankError):
    """The request does not say who calls, or not so that it can be believed; the message says nothing of why."""


class PermissionDenied(StreambankError):
    """The caller may not do this; what it may not even know of is NotFound instead."""


class FailedPrecondition(StreambankError):
    """The resource is in a state that does not allow this."""


class PreconditionFailed(FailedPrecondition):
    """The resource is not in the version that If-Match or If-None-Match asks for; nothing was written."""


class NotFound(StreambankError):
    """There is no such resource in this bank."""


class MethodNotAllowed(StreambankError):
    """The path exists, with the other methods *allowed*."""

    def __init__(self, method: str, allowed: Iterable[str]) -> None:
        self.allowed = tuple(allowed)
        super().__init__(f"the path has no method {method}; it has {', '.join(self.allowed)}")


class AlreadyExists(StreambankError):
    """The id is taken."""


class KeyReused(AlreadyExists):
    """An idempotency key was used before, with another body; nothing was written."""

    def __init__(self, message: str = "the idempotency key was used with another body; use a new key") -> None:
        super().__init__(message)


class Unavailable(StreambankError):
    """Nothing was decided; the same request may be sent again after *retry_after_seconds*."""

    def __init__(self, message: str, retry_after_seconds: int = 1) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class Conflict(Unavailable):
    """A condition of a write did not hold; nothing was written. *reasons* holds a code for each of its actions."""

    PASSED = "None"
    CONDITION_FAILED = "ConditionalCheckFailed"
    CONTENDED = "TransactionConflict"

    def __init__(self, reasons: tuple[str, ...] = ()) -> None:
        super().__init__("somebody else wrote at the same time; try again")
        self.reasons = reasons

    def failed(self, action: int) -> bool:
        """Tell whether the condition of action number *action* (from 0) did not hold."""
        return action < len(self.reasons) and self.reasons[action] == self.CONDITION_FAILED

    @property
    def is_contention(self) -> bool:
        """Tell whether no condition was even looked at: others were writing the same items at that moment."""
        return self.CONTENDED in self.reasons and self.CONDITION_FAILED not in self.reasons


class IdTaken(Conflict):
    """Other memories have the ids *memory_ids* of new ones; nothing was written, and nothing else was in the way."""

    def __init__(self, conflict: Conflict, memory_ids: Iterable[str]) -> None:
        super().__init__(conflict.reasons)
        self.memory_ids = tuple(memory_ids)


class HeadBehind(Conflict):
    """Items of a stream were ahead of its head, as after a restore of a part of the table; the stream is mended."""


class OutOfReach(Unavailable):
    """A throttle, a timeout or a failure on AWS's side; the outcome of a write is open."""

    def __init__(self, code: str) -> None:
        super().__init__("the store did not answer in time; try again")
        self.code = code


class NotIndexed(Unavailable):
    """The table's vector index is missing, or is being filled: the scope has to be read whole."""


class SchemaTooNew(Unavailable):
    """An item was written by a newer release in a form that this one does not know: the upgrade is not through yet."""

    def __init__(self, version: int | str) -> None:
        super().__init__(f"the store holds items of schema version {version}, which this release does not know", 30)


class GenerationError(StreambankError):
    """A window could not be generated; *outcome* is what the state machine sees, *spent* what it cost until then.

    *provider_error* is the code and the request id of the model's provider, or empty.
    """

    outcome = "FAILED"
    spent: Any = None
    provider_error = ""


class ModelRejected(GenerationError):
    """The request is wrong for this model; the same request will be wrong again."""

    outcome = "MODEL_REJECTED"


class ModelUnavailable(GenerationError):
    """The model was throttled, timed out or could not be reached."""

    outcome = "MODEL_UNAVAILABLE"


class ModelThrottled(ModelUnavailable):
    """The model took no more requests, also after they were repeated."""

    outcome = "MODEL_THROTTLED"


class ModelTimedOut(ModelUnavailable):
    """The model did not answer in time; what it answers later is lost, and the window is tried again."""

    outcome = "MODEL_TIMED_OUT"


class ModelOutputInvalid(GenerationError):
    """The model's answer could not be used, also after it was asked again."""

    outcome = "MODEL_OUTPUT_INVALID"


class ModelOutputTruncated(ModelOutputInvalid):
    """The request or its answer was longer than the model takes."""

    outcome = "MODEL_OUTPUT_TRUNCATED"


class ModelVectorsInvalid(ModelOutputInvalid):
    """The embedding model did not return one vector of one length for each text."""

    outcome = "MODEL_VECTORS_INVALID"


class ModelRefused(GenerationError):
    """A guardrail or a content filter stopped the model."""

    outcome = "MODEL_REFUSED"


class ModelNotConfigured(GenerationError):
    """The deployment has no model of that name."""

    outcome = "MODEL_NOT_CONFIGURED"


class EventsMissing(GenerationError):
    """The window counts more events than are stored: it is never done without them."""

    outcome = "EVENTS_MISSING"


class BudgetPaused(GenerationError):
    """The bank has used up its tokens for today: the window waits, its events are kept."""

    outcome = "BUDGET_PAUSED"
