"""One request to Bedrock: repeated where that may help, and what went wrong in our own words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError, ConnectTimeoutError, ReadTimeoutError

from streambank.errors import (
    GenerationError,
    ModelNotConfigured,
    ModelOutputTruncated,
    ModelRejected,
    ModelThrottled,
    ModelTimedOut,
    ModelUnavailable,
)

# Four sends in all; what still fails then is left to the window's own retries, a minute and more later.
TRIES = 4
_BASE_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 20.0

_THROTTLES = frozenset({"ThrottlingException", "TooManyRequestsException", "ServiceQuotaExceededException"})
_PASSING = frozenset(
    {"ModelNotReadyException", "ServiceUnavailableException", "InternalServerException", "ModelErrorException"}
)
_CLOSED = frozenset(
    {"AccessDeniedException", "ResourceNotFoundException", "UnrecognizedClientException", "InvalidSignatureException"}
)
_TOO_LONG = ("too long", "too many tokens", "exceeds the maximum", "maximum context", "input length")

BedrockReply = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Sender:
    """Sends; *pause* takes seconds, *jitter* returns a number in [0, 1)."""

    pause: Callable[[float], None]
    jitter: Callable[[], float]

    def send(self, request: Callable[[], BedrockReply]) -> tuple[BedrockReply, int]:
        """Return the reply and how many sends had to be repeated.

        Raises:
            ModelThrottled, ModelUnavailable: four sends came to nothing.
            ModelTimedOut: no answer in time; it is not sent again, since the model may be at work still.
            ModelOutputTruncated: the request is longer than the model takes.
            ModelNotConfigured: the model does not exist, or may not be used.
            ModelRejected: the request is wrong for this model.
        """
        for attempt in range(TRIES):
            try:
                return request(), attempt
            except (ClientError, BotoCoreError) as fault:
                seconds = self._pause_before(attempt + 1, fault)
                if seconds is None:
                    raise _told(fault) from None  # botocore's own message may quote the request
                self.pause(seconds)
        raise AssertionError("unreachable")  # pragma: no cover

    def _pause_before(self, attempt: int, fault: ClientError | BotoCoreError) -> float | None:
        """Return the seconds before send number *attempt* (from 0): what the service says, else full jitter."""
        if attempt == TRIES or not _may_pass(fault):
            return None
        asked = _retry_after(fault)
        if asked is None:
            return min(_LONGEST_PAUSE_SECONDS, _BASE_SECONDS * 2.0**attempt) * self.jitter()
        return asked if asked <= _LONGEST_PAUSE_SECONDS else None


def _code(fault: ClientError | BotoCoreError) -> str:
    return str(fault.response.get("Error", {}).get("Code", "")) if isinstance(fault, ClientError) else ""


def _status(fault: ClientError | BotoCoreError) -> int:
    metadata = fault.response.get("ResponseMetadata", {}) if isinstance(fault, ClientError) else {}
    return int(metadata.get("HTTPStatusCode", 0))


def _may_pass(fault: ClientError | BotoCoreError) -> bool:
    """Tell whether the same request may succeed soon."""
    if isinstance(fault, ReadTimeoutError) or _code(fault) == "ModelTimeoutException":
        return False
    if isinstance(fault, BotoCoreError):
        return True
    return _code(fault) in _THROTTLES | _PASSING or _status(fault) in {429, 500, 502, 503}


def _retry_after(fault: ClientError | BotoCoreError) -> float | None:
    if not isinstance(fault, ClientError):
        return None
    text = str(fault.response.get("ResponseMetadata", {}).get("HTTPHeaders", {}).get("retry-after", ""))
    return float(text) if text.isascii() and text.isdigit() and len(text) < 6 else None


def _told(fault: ClientError | BotoCoreError) -> GenerationError:
    """Return *fault* as an error of ours; its message says what kind it was, and nothing that was sent."""
    if isinstance(fault, ReadTimeoutError | ConnectTimeoutError) or _code(fault) == "ModelTimeoutException":
        return ModelTimedOut("the model did not answer in time")
    if isinstance(fault, BotoCoreError):
        return ModelUnavailable(f"the model is out of reach: {type(fault).__name__}")
    return _refusal(fault)


def _refusal(fault: ClientError) -> GenerationError:
    code = _code(fault)
    if code in _THROTTLES or _status(fault) == 429:
        return ModelThrottled("the model takes no more requests at present")
    if code in _CLOSED or _status(fault) in {401, 403, 404}:
        return ModelNotConfigured(f"the model may not be used: {code}")
    if any(hint in str(fault).lower() for hint in _TOO_LONG):
        return ModelOutputTruncated("the request is longer than the model takes")
    if _may_pass(fault):
        return ModelUnavailable(f"the model failed: {code or _status(fault)}")
    return ModelRejected(f"the model refuses such requests: {code or _status(fault)}")
