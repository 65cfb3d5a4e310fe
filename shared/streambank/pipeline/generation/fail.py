"""What a failed generation comes to: another try after a while, or a parking place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from streambank.model.window import Attempt, Window
from streambank.rules import backoff
from streambank.store.windows import Windows

EXECUTION_DIED = "EXECUTION_DIED"
# Outcomes that are nobody's failure: they take no try, but the next attempt is another one all the same.
NO_FAILURES = {
    "ERASING": backoff.NO_FAILURE_PAUSE,
    "BUDGET_PAUSED": backoff.BUDGET_PAUSE,
    # The state machine's name for a function whose concurrency is used up, also where an operator limits it on purpose.
    "Lambda.TooManyRequestsException": backoff.NO_FAILURE_PAUSE,
}


@dataclass(frozen=True, slots=True)
class Failed:
    """What was booked: how many failures there are now, and whether the window is parked."""

    is_late: bool = False
    is_parked: bool = False
    failures: int = 0


def fail(attempt: Attempt, outcome: str, *, windows: Windows, now: datetime, jitter: Callable[[], float]) -> Failed:
    """Book that *attempt* came to *outcome*: due again after the backoff, parked after five failures.

    The window is held before its state changes, so that nothing unprocessed expires (I6).
    """
    window = windows.mine(attempt)
    if window is None:
        return Failed(is_late=True)
    return fail_window(window, outcome, windows=windows, now=now, jitter=jitter)


def fail_window(
    window: Window, outcome: str, *, windows: Windows, now: datetime, jitter: Callable[[], float]
) -> Failed:
    """Book a failure of *window*'s present attempt; the sweep and the machine's last state share it."""
    if not windows.hold(window):
        return Failed(is_late=True)
    failures = window.failures + (outcome not in NO_FAILURES)
    pause = NO_FAILURES[outcome] if outcome in NO_FAILURES else backoff.pause_after(failures, jitter())
    due = now + pause if pause else None
    is_booked = windows.failed(window, failure=outcome, failures=failures, due=due, now=now)
    return Failed(is_late=not is_booked, is_parked=is_booked and due is None, failures=failures)
