"""How often a request is repeated, and how long to wait in between: exponential backoff with full jitter.

A retry library (stamina, tenacity) was considered. It would add its import time to every start of the ingest function,
and its loop knows only success and failure. The callers here need more: a DynamoDB transaction whose outcome is unknown
must be repeated with the same token, and Bedrock's Retry-After header replaces the pause. So this module holds the
policy alone, and each caller writes its own loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """The number of attempts and the pauses between them; the defaults wait 3.6 s at most in all.

    *sleep* takes seconds. *jitter* returns a number in [0, 1). Both are injected, so that no test waits.
    """

    sleep: Callable[[float], None]
    jitter: Callable[[], float]
    max_attempts: int = 8
    first_pause_seconds: float = 0.05
    max_pause_seconds: float = 1.0

    def attempts(self) -> Iterator[int]:
        """Yield the number of each attempt, counted from 0, and pause before each one but the first."""
        for attempt in range(self.max_attempts):
            if attempt:
                self.sleep(self.pause_seconds(attempt - 1))
            yield attempt

    def pause_seconds(self, attempt: int) -> float:
        """Return the pause after failed attempt number *attempt*: any time up to a limit that doubles each time."""
        return min(self.max_pause_seconds, self.first_pause_seconds * 2.0**attempt) * self.jitter()
