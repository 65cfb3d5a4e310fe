"""What went wrong with a request, as an error of `streambank.errors`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from urllib3.exceptions import ConnectTimeoutError, NewConnectionError, ReadTimeoutError

from streambank.errors import (
    GenerationError,
    ModelNotConfigured,
    ModelOutputInvalid,
    ModelOutputTruncated,
    ModelRefused,
    ModelRejected,
    ModelThrottled,
    ModelTimedOut,
    ModelUnavailable,
)
from streambank.llm.openai.server import HttpReply, ReplyTooLong, ReplyTooSlow

# 520 to 523 and 529 are those of proxies before a server that is down or overloaded.
_TRANSIENT = frozenset({500, 502, 503, 520, 521, 522, 523, 529})
# The server, or a gateway before it, gave up waiting; the model may still be working.
_TIMED_OUT = frozenset({408, 504, 524})
_ACCESS = frozenset({401, 402, 403, 404, 405})
_TOO_LONG = (
    "context length",
    "context_length",
    "context size",
    "context_size",
    "context window",
    "maximum context",
    "too many tokens",
    "too long",
    "input is too large",
    "input length",
)
_FILTERS = ("content_filter", "content filter", "content_policy", "content policy", "content management policy")
_UNKNOWN_MODELS = (
    "model not found",
    "model_not_found",
    "not a valid model",
    "invalid model",
    "no models loaded",
    "does not exist",
    "try pulling it",
)
_NO_CREDIT = "insufficient_quota"
_WORD = re.compile(r"[A-Za-z0-9._-]{1,64}")
_MESSAGE_CHARACTERS = 1_000


@dataclass(frozen=True, slots=True)
class Problem:
    """What a server says about a request that it refuses: in lower case, never for a log, as it may quote an event."""

    status: int
    message: str = ""
    code: str = ""
    parameter: str = ""

    def mentions(self, *hints: str) -> bool:
        """Tell whether the code or the message has one of *hints*."""
        return any(hint in self.code or hint in self.message for hint in hints)

    @property
    def names_no_model(self) -> bool:
        """Whether the server does not know the model."""
        return self.mentions(*_UNKNOWN_MODELS)

    @property
    def is_too_long(self) -> bool:
        """Whether the request is longer than the model takes."""
        return self.mentions(*_TOO_LONG)


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed attempt; *problem* is None if the server error nothing."""

    error: GenerationError
    is_transient: bool = False
    retry_after: str = ""
    problem: Problem | None = None


def of_exception(exception: Exception) -> Failure:
    """Return the failure of an attempt without a reply."""
    if isinstance(exception, GenerationError):
        return Failure(exception)
    name = type(exception).__name__
    if isinstance(exception, ReplyTooLong):
        return Failure(_named(ModelOutputInvalid("the model's reply has too many bytes"), name))
    # NewConnectionError is a ConnectTimeoutError in urllib3, for a connection that was refused too.
    is_slow = isinstance(exception, ReplyTooSlow | ReadTimeoutError)
    is_silent = isinstance(exception, ConnectTimeoutError) and not isinstance(exception, NewConnectionError)
    if is_slow or is_silent:
        return Failure(_named(ModelTimedOut("the model did not reply in time"), name), is_transient=is_silent)
    return Failure(_named(ModelUnavailable(f"the model cannot be reached: {name}"), name), is_transient=True)


def of_reply(reply: HttpReply) -> Failure:
    """Return the failure that *reply*, not a good one, stands for."""
    problem = read_problem(reply)
    error = _named(_error(problem), _provider_error(problem, reply))
    is_throttled = isinstance(error, ModelThrottled) and problem.code != _NO_CREDIT
    is_down = type(error) is ModelUnavailable and problem.status in _TRANSIENT
    return Failure(error, is_throttled or is_down, reply.headers.get("retry-after", ""), problem)


def read_problem(reply: HttpReply) -> Problem:
    """Return what *reply* says: an object, an object in a list, a text, or a page."""
    try:
        value = json.loads(reply.body)
    except (ValueError, RecursionError):
        return Problem(reply.status, _lower(reply.body.decode(errors="replace")))
    value = value[0] if isinstance(value, list) and value else value
    error = value.get("error", value) if isinstance(value, dict) else value
    if not isinstance(error, dict):
        return Problem(reply.status, _lower(error))
    fields: Mapping[str, Any] = error
    # A gateway may answer 200 and put the status into the error.
    status = fields.get("code") if reply.status == 200 and isinstance(fields.get("code"), int) else reply.status
    message = fields.get("message") or fields.get("detail") or ""
    code = fields.get("code") if isinstance(fields.get("code"), str) else fields.get("type")
    return Problem(int(status or 500), _lower(message), _lower(code or ""), _lower(fields.get("param") or ""))


def _error(problem: Problem) -> GenerationError:  # noqa: PLR0911  one line for each kind
    status = problem.status
    if status == 429:
        return ModelThrottled("the model accepts no more requests at present")
    if problem.mentions(*_FILTERS):
        return ModelRefused("a content filter stopped the request")
    if problem.is_too_long and status not in _ACCESS:
        return ModelOutputTruncated("the request is longer than the model allows")
    if status in _ACCESS or 300 <= status < 400 or (status == 400 and problem.names_no_model):
        return ModelNotConfigured(f"the model may not be used: {status}")
    if status in _TIMED_OUT:
        return ModelTimedOut("the model did not reply in time")
    if status >= 500 or status == 200:
        return ModelUnavailable(f"the model failed: {status}")
    return ModelRejected(f"the model rejected the request: {status}")


def _named(error: GenerationError, provider_error: str) -> GenerationError:
    error.provider_error = provider_error
    return error


def _provider_error(problem: Problem, reply: HttpReply) -> str:
    """Return status, code and request id, as far as they are single words: never the message."""
    words = (str(problem.status), problem.code, reply.headers.get("x-request-id", ""))
    return " ".join(word for word in words if _WORD.fullmatch(word))


def _lower(value: Any) -> str:
    return str(value)[:_MESSAGE_CHARACTERS].lower()
