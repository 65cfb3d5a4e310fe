"""When a request to a provider of models is sent again."""

from __future__ import annotations

from collections.abc import Callable

from streambank.retry import RetryPolicy


def model_retry_policy(sleep: Callable[[float], None], jitter: Callable[[], float]) -> RetryPolicy:
    """Return the policy for models; what still fails after four attempts is left to the window's own backoff."""
    return RetryPolicy(sleep, jitter, max_attempts=4, first_pause_seconds=1.0, max_pause_seconds=20.0)


def pause_before_retry(attempt: int, retry_after: str, retry_policy: RetryPolicy) -> float | None:
    """Return the pause after failed attempt number *attempt* (from 0), or None if the request is not sent again.

    A Retry-After header of whole seconds replaces the policy's pause, unless it is longer than the policy allows.
    """
    if attempt + 1 == retry_policy.max_attempts:
        return None
    if not (retry_after.isascii() and retry_after.isdigit() and len(retry_after) < 6):
        return retry_policy.pause_seconds(attempt)
    return float(retry_after) if float(retry_after) <= retry_policy.max_pause_seconds else None
