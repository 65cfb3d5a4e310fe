"""What a response says: the reply to a call, or the error that it stands for."""

from __future__ import annotations

from collections.abc import Callable
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

import httpx

from streambank_client import errors
from streambank_client.calls import Call, Reply

T = TypeVar("T")
MAX_MESSAGE_CHARACTERS = 1_000
LONGEST_RETRY_AFTER_SECONDS = 86_400

Named = Callable[[str], errors.StreambankError]
# By status; 400 and 409 are told apart by Google's word for them.
_KINDS: dict[int, Named] = {
    401: errors.Unauthenticated,
    403: errors.PermissionDenied,
    404: errors.NotFound,
    409: errors.AlreadyExists,
    412: errors.PreconditionFailed,
    500: errors.InternalError,
}


def read(call: Call[T], response: httpx.Response) -> T:
    """Return what a successful response says. Raises UnexpectedReply for one that is none of the service's."""
    from pydantic import ValidationError  # of no use before there is a reply

    try:
        return call.parse(Reply(_document(response), response.headers))
    except ValidationError as error:
        # Its own text quotes what was answered, which is somebody's.
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise errors.UnexpectedReply(f"the reply's {place or 'body'} is not as expected: {first['type']}") from None


def _document(response: httpx.Response) -> dict[str, Any]:
    try:
        document = response.json()
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise errors.UnexpectedReply(f"the reply ({response.status_code}) is no JSON object")
    return document


def refusal(response: httpx.Response) -> errors.StreambankError:
    """Return the error that a response stands for."""
    code, said = response.status_code, _said(response)
    message = _message(response, said)
    if code == 429:
        return errors.RateLimited(message, _after(response))
    if code in (502, 503, 504):
        return errors.Unavailable(message, _after(response))
    if code in (400, 413):
        return _about_the_request(code, said, message)
    return _KINDS.get(code, errors.UnexpectedReply)(message)


def _about_the_request(code: int, said: dict[str, Any], message: str) -> errors.StreambankError:
    if said.get("status") == "FAILED_PRECONDITION":
        return errors.FailedPrecondition(message)
    kind = errors.PayloadTooLarge if code == 413 else errors.InvalidArgument
    field, problem = _violation(said)
    return kind(field, problem or message)


def _said(response: httpx.Response) -> dict[str, Any]:
    """Return the error object of a body: Google's, or API Gateway's own, which is a message only."""
    try:
        document = response.json()
    except (ValueError, RecursionError):
        return {}
    if not isinstance(document, dict):
        return {}
    error = document.get("error", document)
    return error if isinstance(error, dict) else {}


def _message(response: httpx.Response, said: dict[str, Any]) -> str:
    message = said.get("message")
    told = message if isinstance(message, str) and message else f"the service answered {response.status_code}"
    return told[:MAX_MESSAGE_CHARACTERS]


def _violation(said: dict[str, Any]) -> tuple[str, str]:
    """Return field and problem of the first violation that a BadRequest names."""
    for detail in said.get("details") or ():
        for violation in (detail.get("fieldViolations") or ()) if isinstance(detail, dict) else ():
            field, problem = str(violation.get("field", "")), str(violation.get("description", ""))
            return field[:MAX_MESSAGE_CHARACTERS], problem[:MAX_MESSAGE_CHARACTERS]
    return "", ""


def _after(response: httpx.Response) -> int:
    asked = retry_after_seconds(response)
    return 1 if asked is None else asked


def retry_after_seconds(response: httpx.Response) -> int | None:
    """Return how long the service asks its caller to wait: a number of seconds, or a time beside its own."""
    said = response.headers.get("retry-after", "")
    if said.isascii() and said.isdigit():
        return min(int(said[:9]), LONGEST_RETRY_AFTER_SECONDS)
    try:
        span = parsedate_to_datetime(said) - parsedate_to_datetime(response.headers.get("date", ""))
    except (ValueError, TypeError):
        return None
    return min(max(0, round(span.total_seconds())), LONGEST_RETRY_AFTER_SECONDS)
