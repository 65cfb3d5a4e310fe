"""One request to Bedrock: sent again where that may help; Bedrock's errors become errors of `streambank.errors`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError, ConnectTimeoutError, ReadTimeoutError

from streambank import telemetry
from streambank.errors import (
    GenerationError,
    ModelNotConfigured,
    ModelOutputInvalid,
    ModelOutputTruncated,
    ModelRejected,
    ModelThrottled,
    ModelTimedOut,
    ModelUnavailable,
)
from streambank.llm.dialogue.retries import pause_before_retry
from streambank.retry import RetryPolicy

_THROTTLES = frozenset({"ThrottlingException", "TooManyRequestsException", "ServiceQuotaExceededException"})
_TRANSIENT = frozenset({"ModelNotReadyException", "ServiceUnavailableException", "InternalServerException"})
# The model wrote something that is no call of a tool; the same request gives the same again (Amazon Nova user guide,
# "Troubleshooting tool calls").
_UNUSABLE = "ModelErrorException"
_ACCESS_ERRORS = frozenset(
    {"AccessDeniedException", "ResourceNotFoundException", "UnrecognizedClientException", "InvalidSignatureException"}
)
# Parts of messages of a ValidationException that no other request would change, but another model, profile, region or
# right: the bare id of a model that needs a profile, an id that nobody knows, a form or a subscription that is missing.
_CONFIGURATION_MESSAGES = (
    "on-demand throughput",
    "model identifier is invalid",
    "inference profile",
    "use case details",
    "marketplace",
    "access to the model",
    "operation not allowed",
    "end of its life",
)
_WORD = re.compile(r"[A-Za-z0-9._-]{1,64}")
_TOO_LONG_MESSAGES = ("too long", "too many tokens", "exceeds the maximum", "maximum context", "input length")

BedrockReply = Mapping[str, Any]


def send(request: Callable[[], BedrockReply], retry_policy: RetryPolicy) -> tuple[BedrockReply, int]:
    """Return the reply and the number of retries that it took.

    Raises:
        ModelThrottled, ModelUnavailable: every attempt failed.
        ModelTimedOut: no reply in time; not sent again, because the model may still be working.
        ModelOutputTruncated: the request is longer than the model allows.
        ModelNotConfigured: the model does not exist here, or may not be used.
        ModelOutputInvalid: the model failed at its answer; the same request would fail again.
        ModelRejected: the request is wrong for this model.
    """
    for attempt in range(retry_policy.max_attempts):
        try:
            return request(), attempt
        except (ClientError, BotoCoreError) as error:
            seconds = _pause_after(attempt, error, retry_policy)
            if seconds is None:
                failure = _translated(error)
                failure.provider_error = _provider_error(error)
                telemetry.model_failed(failure.outcome, failure.provider_error)
                raise failure from None  # botocore's own message may quote the request
            retry_policy.sleep(seconds)
    raise AssertionError("unreachable")  # pragma: no cover


def _pause_after(attempt: int, error: ClientError | BotoCoreError, retry_policy: RetryPolicy) -> float | None:
    """Return the pause after failed attempt number *attempt* (from 0), or None if the request is not sent again."""
    return pause_before_retry(attempt, _retry_after(error), retry_policy) if _is_transient(error) else None


def _code(error: ClientError | BotoCoreError) -> str:
    return str(error.response.get("Error", {}).get("Code", "")) if isinstance(error, ClientError) else ""


def _status(error: ClientError | BotoCoreError) -> int:
    metadata = error.response.get("ResponseMetadata", {}) if isinstance(error, ClientError) else {}
    return int(metadata.get("HTTPStatusCode", 0))


def _provider_error(error: ClientError | BotoCoreError) -> str:
    """Return the provider's code and request id, as far as they are single words: never its message."""
    if isinstance(error, BotoCoreError):
        return type(error).__name__
    request_id = str(error.response.get("ResponseMetadata", {}).get("RequestId", ""))
    return " ".join(word for word in (_code(error), request_id) if _WORD.fullmatch(word))


def _is_transient(error: ClientError | BotoCoreError) -> bool:
    """Tell whether the same request may succeed soon."""
    if isinstance(error, ReadTimeoutError) or _code(error) == "ModelTimeoutException":
        return False
    if isinstance(error, BotoCoreError):
        return True
    return _code(error) in _THROTTLES | _TRANSIENT or _status(error) in {429, 500, 502, 503}


def _retry_after(error: ClientError | BotoCoreError) -> str:
    if not isinstance(error, ClientError):
        return ""
    return str(error.response.get("ResponseMetadata", {}).get("HTTPHeaders", {}).get("retry-after", ""))


def _translated(error: ClientError | BotoCoreError) -> GenerationError:
    """Return *error* as a GenerationError; its message names the kind of error and quotes nothing of the request."""
    if isinstance(error, ReadTimeoutError | ConnectTimeoutError) or _code(error) == "ModelTimeoutException":
        return ModelTimedOut("the model did not reply in time")
    if isinstance(error, BotoCoreError):
        return ModelUnavailable(f"the model cannot be reached: {type(error).__name__}")
    return _translated_client_error(error)


def _translated_client_error(error: ClientError) -> GenerationError:
    code = _code(error)
    if code in _THROTTLES or _status(error) == 429:
        return ModelThrottled("the model accepts no more requests at present")
    message = str(error).lower()
    if code in _ACCESS_ERRORS or _status(error) in {401, 403, 404} or _mentions(message, _CONFIGURATION_MESSAGES):
        return ModelNotConfigured(f"the model may not be used: {code}")
    if code == _UNUSABLE:
        return ModelOutputInvalid("the model failed at its answer")
    if _mentions(message, _TOO_LONG_MESSAGES):
        return ModelOutputTruncated("the request is longer than the model allows")
    if _is_transient(error):
        return ModelUnavailable(f"the model failed: {code or _status(error)}")
    return ModelRejected(f"the model rejected the request: {code or _status(error)}")


def _mentions(message: str, hints: tuple[str, ...]) -> bool:
    return any(hint in message for hint in hints)
