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

from streambank.errors import (
    AlreadyExists,
    FailedPrecondition,
    InvalidArgument,
    NotFound,
    PayloadTooLarge,
    PermissionDenied,
    PreconditionFailed,
    StreambankError,
    Unauthenticated,
    Unavailable,
)

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
