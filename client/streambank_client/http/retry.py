"""When a failed attempt is repeated, and after which pause; pure functions of what happened, the policy and the time.

A pause grows exponentially with each failure in a row, up to a limit, and a random share of it is waited. This is the
only backoff in the client: calls, the polling of operations and the save queues of agents use it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from streambank_client import errors

# 2 ** 30 seconds are 34 years: no pause is longer, and no float overflows.
_MAX_EXPONENT = 30


@dataclass(frozen=True)
class Backoff:
    """Exponential backoff with jitter.

    The pause after *n* failures in a row is a random share of `base_seconds * growth ** (n - 1)`, which is at most
    *most_seconds*. The share is at least *least_share*: 0 is full jitter.

    Raises:
        ValueError: a number is negative.
    """

    base_seconds: float = 1.0
    most_seconds: float = 300.0
    growth: float = 2.0
    least_share: float = 0.0

    def __post_init__(self) -> None:
        if self.base_seconds < 0 or self.most_seconds < 0:
            raise ValueError("Backoff: seconds must not be negative")

    def delay_seconds(self, failures: int, *, share: float, requested_seconds: float = 0.0) -> float:
        """Return the pause after *failures* in a row; *share* (0 to 1) is the jitter.

        A pause that the service requested (*requested_seconds*) is the least, as far as it is below *most_seconds*.
        """
        span = min(self.most_seconds, self.base_seconds * self.growth ** min(failures - 1, _MAX_EXPONENT))
        jitter = self.least_share + (1 - self.least_share) * share
        return max(span * jitter, min(requested_seconds, self.most_seconds))


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How long a call may take over all its attempts, how long one attempt, how often and when it is repeated.

    Raises:
        ValueError: no call could be made under it.
    """

    timeout_seconds: float = 60.0
    attempt_seconds: float = 30.0
    retries: int = 4
    backoff: Backoff = field(default=Backoff(base_seconds=0.25, most_seconds=8.0))

    def __post_init__(self) -> None:
        if not (self.timeout_seconds > 0 and self.attempt_seconds > 0):
            raise ValueError("timeout_seconds and attempt_seconds must be above 0")
        if self.retries < 0:
            raise ValueError("retries must be 0 or more")

    def pause_seconds(
        self, failure: Failure, *, attempts: int, repeatable: bool, left_seconds: float, share: float
    ) -> float | None:
        """Return the pause before the next attempt, or None if there is none: *failure* is final.

        *attempts* were made, *left_seconds* are left until the deadline, *share* (0 to 1) is the jitter. The pause
        that the service requested comes before the jitter: callers that were all told the same do not return at once.
        """
        if not failure.is_temporary or not (repeatable or failure.had_no_effect) or attempts > self.retries:
            return None
        pause = failure.retry_after_seconds + self.backoff.delay_seconds(attempts, share=share)
        return pause if pause < left_seconds else None


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed attempt: *is_temporary* if another may succeed, *had_no_effect* if it certainly changed nothing."""

    error: errors.StreambankError
    is_temporary: bool
    had_no_effect: bool
    retry_after_seconds: float = 0.0
