"""How long to wait before another try."""

from __future__ import annotations

from datetime import timedelta

# A window is tried five times, then parked where an operator sees it.
MAX_FAILURES = 5
_PAUSES = (timedelta(minutes=1), timedelta(minutes=4), timedelta(minutes=15), timedelta(minutes=60))
# A scope that is being erased, or a stage for which there was no place, is no failure; it is looked at again this soon.
NO_FAILURE_PAUSE = timedelta(minutes=1)
# A raised budget, and the next day, are noticed within this time.
BUDGET_PAUSE = timedelta(minutes=15)


def pause_after(failures: int, jitter: float) -> timedelta | None:
    """Return the pause after the *failures*-th failure, up to a fifth longer by *jitter* in [0, 1); None parks."""
    if failures >= MAX_FAILURES:
        return None
    return _PAUSES[failures - 1] * (1 + jitter / 5)


def retry_pause_seconds(attempt: int, jitter: float, *, base: float = 0.05, cap: float = 1.0) -> float:
    """Return the full-jitter pause before try *attempt* + 1, *jitter* in [0, 1)."""
    return min(cap, base * 2.0**attempt) * jitter
