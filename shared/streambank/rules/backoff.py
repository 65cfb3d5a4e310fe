"""How long a window waits after a failure, before it is generated again.

These pauses move a due time that is stored; they are no loop. Requests are repeated by `streambank.retry`.
"""

from __future__ import annotations

from datetime import timedelta

# A window is generated five times at most, then it is parked, where an operator sees it.
MAX_FAILURES = 5
_PAUSES = (timedelta(minutes=1), timedelta(minutes=4), timedelta(minutes=15), timedelta(minutes=60))
# A scope that is being erased, or a full queue of executions, is no failure; the sweep looks at the window this soon.
NO_FAILURE_PAUSE = timedelta(minutes=1)
# A window that waits for its budget notices a raised budget, or the next day, within this time.
BUDGET_PAUSE = timedelta(minutes=15)
# A throttle says that the provider's quota is used up, not that anything is wrong with the window.
_SHORTEST_THROTTLE = timedelta(minutes=1)
_LONGEST_THROTTLE = timedelta(hours=1)
_THROTTLED_FOR = timedelta(days=1)


def pause_after(failures: int, jitter: float) -> timedelta | None:
    """Return the pause after the *failures*-th failure, or None to park the window.

    *jitter*, in [0, 1), makes the pause up to a fifth longer.
    """
    if failures >= MAX_FAILURES:
        return None
    return _PAUSES[failures - 1] * (1 + jitter / 5)


def pause_after_throttle(age: timedelta, jitter: float) -> timedelta | None:
    """Return the pause of a window that is *age* old when the provider throttles it, or None after a day.

    It is a quarter of the age, from a minute to an hour, and up to a fifth longer by *jitter*.
    """
    if age >= _THROTTLED_FOR:
        return None
    return min(max(age / 4, _SHORTEST_THROTTLE), _LONGEST_THROTTLE) * (1 + jitter / 5)
