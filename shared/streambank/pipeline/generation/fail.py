"""Recording a failed generation: the window is tried again after a pause, or parked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from streambank.errors import EventsMissing, ModelThrottled
from streambank.model.window import Attempt, Window
from streambank.rules import backoff
from streambank.store.windows import Windows

EXECUTION_DIED = "EXECUTION_DIED"
# Outcomes that do not count as failures; they begin another attempt all the same.
NO_FAILURES = {
    "ERASING": backoff.NO_FAILURE_PAUSE,
    "BUDGET_PAUSED": backoff.BUDGET_PAUSE,
    # The state machine's name for a scope that others wrote at each of its tries.
    "SCOPE_BUSY": backoff.NO_FAILURE_PAUSE,
    # The state machine's name for a function whose concurrency is used up, also where an operator limits it on purpose.
    "Lambda.TooManyRequestsException": backoff.NO_FAILURE_PAUSE,
    # Lambda itself failed; the function may not have been called.
    "Lambda.ServiceException": backoff.NO_FAILURE_PAUSE,
}
# An outcome that no other attempt would change: the window is parked at once.
EVENTS_MISSING = EventsMissing.outcome


@dataclass(frozen=True, slots=True)
class FailContext:
    """What the recording of a failure needs."""

    windows: Windows
    now: datetime
    jitter: Callable[[], float]


@dataclass(frozen=True, slots=True)
class RecordedFailure:
    """How many failures a window has now, and whether it is parked; *is_late* tells that nothing was recorded."""

    is_late: bool = False
    is_parked: bool = False
    failures: int = 0
    provider_error: str = ""


def fail(attempt: Attempt, outcome: str, *, context: FailContext) -> RecordedFailure:
    """Record the *outcome* of a failed attempt: the window is due again after the backoff, parked after five failures.

    A window without all of its events is parked at once. A throttled window waits up to a day before that counts.

    Raises:
        OutOfReach: the table did not answer.
    """
    window = context.windows.get_if_current(attempt)
    if window is None:
        return RecordedFailure(is_late=True)
    return fail_window(window, outcome, context=context)


def outcome_of_death(error: str) -> str:
    """Return the outcome of an execution that ended without one: its own error where that is no failure."""
    return error if error in NO_FAILURES else EXECUTION_DIED


def fail_window(window: Window, outcome: str, *, context: FailContext) -> RecordedFailure:
    """Record a failure of *window*'s current attempt. Raises as `fail` does.

    The expiry of its events is suspended before its state changes, so that nothing unprocessed expires (I6).
    """
    if not context.windows.suspend_expiry(window):
        return RecordedFailure(is_late=True)
    waits = _pause_without_failure(window, outcome, context)
    failures = window.failures + (waits is None)
    if outcome == EVENTS_MISSING:
        context.windows.record_gap(window)
    pause = waits or _pause(outcome, failures, context)
    due = context.now + pause if pause else None
    is_recorded = context.windows.record_failure(window, failure=outcome, failures=failures, due=due, now=context.now)
    return RecordedFailure(not is_recorded, is_recorded and due is None, failures, window.provider_error or "")


def _pause_without_failure(window: Window, outcome: str, context: FailContext) -> timedelta | None:
    """Return how long the window waits if *outcome* counts as no failure, else None."""
    if outcome == ModelThrottled.outcome:
        return backoff.pause_after_throttle(context.now - window.sealed, context.jitter())
    return NO_FAILURES.get(outcome)


def _pause(outcome: str, failures: int, context: FailContext) -> timedelta | None:
    """Return how long the window waits after a failure, or None to park it."""
    return None if outcome == EVENTS_MISSING else backoff.pause_after(failures, context.jitter())
