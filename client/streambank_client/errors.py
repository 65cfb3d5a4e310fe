"""Errors of the client: those of the service under the service's names, and those of the connection.

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
│   └── ConnectionLost           no reply; the request may have been carried out or not
├── InternalError                500
├── DeadlineExceeded             the time limit of a call or of a wait is over
├── OperationFailed              an operation ended with an error
└── UnexpectedReply              a reply that is not from the service
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
    """Base class of all errors; a message never quotes the text of events."""


class InvalidArgument(StreambankError):
    """The input breaks a rule; *field* is the path of the field as the caller wrote it, empty if there is none."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}" if field else problem)
        self.field = field
        self.problem = problem


class PayloadTooLarge(InvalidArgument):
    """The body is larger than the service accepts."""


class Unauthenticated(StreambankError):
    """The service does not accept the key or the token."""


class PermissionDenied(StreambankError):
    """The caller may not do this; a resource that it may not see raises NotFound instead."""


class FailedPrecondition(StreambankError):
    """The resource is in a state that does not allow this."""


class PreconditionFailed(FailedPrecondition):
    """The resource does not have the version of If-Match or If-None-Match; nothing was written."""


class NotFound(StreambankError):
    """There is no such resource in this bank."""


class AlreadyExists(StreambankError):
    """The id is taken."""


class Unavailable(StreambankError):
    """The service is not available; the same request may be sent again after *retry_after_seconds*."""

    def __init__(self, message: str, retry_after_seconds: int = 1) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class RateLimited(Unavailable):
    """The service accepts no more calls for now; the call was not carried out."""


class ConnectionLost(Unavailable):
    """There was no reply; if *outcome_is_unknown*, the request may have been carried out."""

    def __init__(self, message: str, *, outcome_is_unknown: bool) -> None:
        super().__init__(message)
        self.outcome_is_unknown = outcome_is_unknown


class InternalError(StreambankError):
    """An internal error of the service; its log has the details."""


class DeadlineExceeded(StreambankError):
    """The time limit of a call or of a wait is over; the request may still be carried out."""


class OperationFailed(StreambankError):
    """An operation ended with an error: *code* is a google.rpc.Code, *operation* the operation as it ended."""

    def __init__(self, code: int, message: str, operation: Any) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.operation = operation


class UnexpectedReply(StreambankError):
    """A reply that is not from the service, such as the page of a proxy; the message quotes none of it."""
