"""Starting the generation of a sealed window."""

from __future__ import annotations

from enum import StrEnum

from streambank.model.window import Attempt, Window, WindowState
from streambank.store.executions import Executions
from streambank.store.windows import Windows


class StartOutcome(StrEnum):
    """What an attempt to start a generation did."""

    STARTED = "STARTED"
    WAITING = "WAITING"  # for the window before it: windows of a stream are generated in order
    ALREADY_STARTED = "ALREADY_STARTED"  # the attempt has an execution already, running or closed
    NOT_PENDING = "NOT_PENDING"


def attempt_of(window: Window) -> Attempt:
    """Return the attempt that *window* waits for."""
    return Attempt(window.stream.bank, window.stream.sid, window.number, window.attempt)


def start(window: Window, *, windows: Windows, executions: Executions) -> StartOutcome:
    """Start *window*'s generation if it is its turn; a second start has no effect."""
    if window.state is not WindowState.SEALED:
        return StartOutcome.NOT_PENDING
    if not _is_its_turn(window, windows):
        return StartOutcome.WAITING
    return StartOutcome.STARTED if executions.start(attempt_of(window)) else StartOutcome.ALREADY_STARTED


def _is_its_turn(window: Window, windows: Windows) -> bool:
    if window.number == 1:
        return True
    before = windows.get(window.stream.bank, window.stream.sid, window.number - 1)
    return before is None or before.has_ended
