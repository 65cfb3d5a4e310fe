"""The translation of DynamoDB's errors, in one file."""

from __future__ import annotations

from typing import Any, cast

from botocore.exceptions import BotoCoreError, ClientError

from streambank.errors import Conflict, NotIndexed, OutOfReach

_THROTTLES = {
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "ThrottlingException",
    "LimitExceededException",
}
_THROTTLED_ACTIONS = {"ThrottlingError", "ProvisionedThroughputExceeded"}
_OPEN_OUTCOMES = {"InternalServerError", "ServiceUnavailable", "TransactionInProgressException", "InternalFailure"}


def translated(error: Exception) -> Exception:
    """Return our error for *error*, or *error* itself where it is a fault of this code."""
    if isinstance(error, ClientError):
        return _translated_client_error(error)
    return OutOfReach(type(error).__name__) if isinstance(error, BotoCoreError) else error


def of_search(error: Exception) -> Exception:
    """Return our error for one of a search: an index that is missing or being filled, or an older client, is none."""
    ours = translated(error)
    is_refused = isinstance(ours, ClientError | AttributeError)
    return NotIndexed("the vector index cannot be searched") if is_refused else ours


def _translated_client_error(error: ClientError) -> Exception:
    response: dict[str, Any] = dict(error.response)
    code: str = response["Error"].get("Code", "")
    if code == "ConditionalCheckFailedException":
        return Conflict((Conflict.CONDITION_FAILED,))
    if code == "TransactionConflictException":
        return Conflict((Conflict.CONTENDED,))
    if code == "TransactionCanceledException":
        return _cancelled(response)
    status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    if code in _THROTTLES | _OPEN_OUTCOMES or status >= 500:
        return OutOfReach(code)
    return cast("Exception", error)


def _cancelled(response: Any) -> Exception:
    """A cancelled transaction wrote nothing; an invalid request is a fault of this code."""
    reasons = tuple(reason.get("Code", Conflict.PASSED) for reason in response.get("CancellationReasons", []))
    if "ValidationError" in reasons:
        return cast("Exception", ClientError(response, "TransactWriteItems"))
    return OutOfReach("Throttled") if _THROTTLED_ACTIONS & set(reasons) else Conflict(reasons)


def repeats_hide_outcome(error: BaseException) -> bool:
    """Tell whether botocore sent the request before: an earlier send may have been carried out."""
    response: Any = getattr(error, "response", None) or {}
    return bool(response.get("ResponseMetadata", {}).get("RetryAttempts", 0))
