"""What the client raises: the service's errors by the names that the service uses, and what can happen on the way.

StreambankError
├── InvalidArgument              400: names the field
│   └── PayloadTooLarge          413
├── Unauthenticated              401
├── PermissionDenied             403
├── FailedPrecondition           400: the input is fine, the state is not
│   └── PreconditionFailed       412: If-Match or If-None-Match did not hold
├── NotFound                     404
├── AlreadyExists                409
├── Unavailable                  502, 503, 504: try again after retry_after_seconds
│   ├── RateLimited              429
│   └── ConnectionLost           no reply; says whether the request may have been carried out
├── InternalError                500
├── DeadlineExceeded             the time given to a call, or to a wait, is over
├── OperationFailed              an operation ended with an error
└── UnexpectedReply              a reply that is none of the service's
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "AlreadyExists",
    "ConnectionLost",
    "DeadlineExceeded",
    "FailedPrecondition",
    "InternalError",
    "InvalidArgument",
    "NotFound",
    "OperationFailed",
    "PayloadTooLarge",
    "PermissionDenied",
    "PreconditionFailed",
    "RateLimited",
    "StreambankError",
    "Unauthenticated",
    "Unavailable",
    "UnexpectedReply",
]


class StreambankError(Exception):
    """Root of the tree; a message quotes no event text."""


class InvalidArgument(StreambankError):
    """The input breaks a rule; *field* is its path in the caller's own spelling, empty where no field is named."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}" if field else problem)
        self.field = field
        self.problem = problem


class PayloadTooLarge(InvalidArgument):
    """The body is larger than the service takes."""


class Unauthenticated(StreambankError):
    """The service does not know the token."""


class PermissionDenied(StreambankError):
    """The token may not do this; what it may not even know of is NotFound instead."""


class FailedPrecondition(StreambankError):
    """The resource is in a state that does not allow this."""


class PreconditionFailed(FailedPrecondition):
    """The resource is not in the version that If-Match or If-None-Match asks for; nothing was written."""


class NotFound(StreambankError):
    """There is no such resource in this bank."""


class AlreadyExists(StreambankError):
    """The id is taken."""


class Unavailable(StreambankError):
    """Nothing was decided; the same request may be sent again after *retry_after_seconds*."""

    def __init__(self, message: str, retry_after_seconds: int = 1) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class RateLimited(Unavailable):
    """The service takes no more calls for now; the call was not carried out."""


class ConnectionLost(Unavailable):
    """There was no reply; where *outcome_is_unknown*, the request may have been carried out all the same."""

    def __init__(self, message: str, *, outcome_is_unknown: bool) -> None:
        super().__init__(message)
        self.outcome_is_unknown = outcome_is_unknown


class InternalError(StreambankError):
    """A fault of the service's; its log has where."""


class DeadlineExceeded(StreambankError):
    """The time given to a call, or to a wait, is over; what was asked for may still happen."""


class OperationFailed(StreambankError):
    """An operation ended with an error: *code* is a google.rpc.Code, *operation* the operation as it ended."""

    def __init__(self, code: int, message: str, operation: Any) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.operation = operation


class UnexpectedReply(StreambankError):
    """A reply that is none of the service's, such as a proxy's page; the message quotes none of it."""
