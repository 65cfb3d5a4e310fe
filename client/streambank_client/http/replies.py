"""What a response means: the result of a call, or an error."""

from __future__ import annotations

from collections.abc import Callable
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

import httpx

from streambank_client import errors
from streambank_client.http.call import Call, JsonReply

T = TypeVar("T")
MAX_MESSAGE_CHARACTERS = 1_000
MAX_RETRY_AFTER_SECONDS = 86_400

# By status; 400 and 413 are decided by the body.
_ERROR_CLASSES: dict[int, Callable[[str], errors.StreambankError]] = {
    401: errors.Unauthenticated,
    403: errors.PermissionDenied,
    404: errors.NotFound,
    409: errors.AlreadyExists,
    412: errors.PreconditionFailed,
    500: errors.InternalError,
}


def result_of(call: Call[T], response: httpx.Response) -> T:
    """Return the result of a call from a successful response.

    Raises:
        UnexpectedReply: the body is not what the service sends.
    """
    return call.parse(JsonReply(_document(response), response.headers))


def _document(response: httpx.Response) -> dict[str, Any]:
    try:
        document = response.json()
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise errors.UnexpectedReply(f"the reply ({response.status_code}) is no JSON object")
    return document


def error_of(response: httpx.Response) -> errors.StreambankError:
    """Return the error that an unsuccessful response stands for."""
    status, document = response.status_code, _error_document(response)
    message = _message(response, document)
    if status == 429:
        return errors.RateLimited(message, _retry_after_or_default(response))
    if status in (502, 503, 504):
        return errors.Unavailable(message, _retry_after_or_default(response))
    if status in (400, 413):
        return _request_error(status, document, message)
    return _ERROR_CLASSES.get(status, errors.UnexpectedReply)(message)


def _request_error(status: int, document: dict[str, Any], message: str) -> errors.StreambankError:
    if document.get("status") == "FAILED_PRECONDITION":
        return errors.FailedPrecondition(message)
    error_class = errors.PayloadTooLarge if status == 413 else errors.InvalidArgument
    field, problem = _first_violation(document)
    return error_class(field, problem or message)


def _error_document(response: httpx.Response) -> dict[str, Any]:
    """Return the error object of a body: Google's, or that of API Gateway, which has a message only."""
    try:
        document = response.json()
    except (ValueError, RecursionError):
        return {}
    if not isinstance(document, dict):
        return {}
    error = document.get("error", document)
    return error if isinstance(error, dict) else {}


def _message(response: httpx.Response, document: dict[str, Any]) -> str:
    message = document.get("message")
    text = message if isinstance(message, str) and message else f"the service answered {response.status_code}"
    return text[:MAX_MESSAGE_CHARACTERS]


def _first_violation(document: dict[str, Any]) -> tuple[str, str]:
    """Return field and problem of the first violation in the details of a BadRequest."""
    for detail in document.get("details") or ():
        for violation in (detail.get("fieldViolations") or ()) if isinstance(detail, dict) else ():
            field, problem = str(violation.get("field", "")), str(violation.get("description", ""))
            return field[:MAX_MESSAGE_CHARACTERS], problem[:MAX_MESSAGE_CHARACTERS]
    return "", ""


def _retry_after_or_default(response: httpx.Response) -> int:
    seconds = retry_after_seconds(response)
    return 1 if seconds is None else seconds


def retry_after_seconds(response: httpx.Response) -> int | None:
    """Return the seconds of the Retry-After header: a number, or a date, which is compared with the Date header."""
    header = response.headers.get("retry-after", "")
    if header.isascii() and header.isdigit():
        return min(int(header[:9]), MAX_RETRY_AFTER_SECONDS)
    try:
        span = parsedate_to_datetime(header) - parsedate_to_datetime(response.headers.get("date", ""))
    except (ValueError, TypeError):
        return None
    return min(max(0, round(span.total_seconds())), MAX_RETRY_AFTER_SECONDS)
