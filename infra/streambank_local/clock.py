"""The service's clock: the wall clock, which can be moved forward."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """A source of the current time."""

    def now(self) -> datetime:
        """Return the aware time in UTC."""
        ...


class MovableClock:
    """The wall clock plus an offset that never decreases."""

    def __init__(self, offset: timedelta = timedelta(), keep: Callable[[timedelta], object] | None = None) -> None:
        """Begin with *offset*; *keep* gets each new offset before the clock has it, and may raise."""
        self._offset = offset
        self._keep = keep
        self._lock = threading.Lock()

    def now(self) -> datetime:
        """Return the aware time in UTC."""
        return datetime.now(UTC) + self._offset

    def advance(self, by: timedelta) -> None:
        """Move the clock forward; raises ValueError for a step back."""
        if by < timedelta():
            raise ValueError("the clock only moves forward")
        with self._lock:
            self._move(by)

    def advance_to(self, time: datetime) -> None:
        """Move the clock forward to *time*, or do nothing if it is later already."""
        with self._lock:
            self._move(max(time - self.now(), timedelta()))

    def _move(self, by: timedelta) -> None:
        offset = self._offset + by
        if by and self._keep:
            self._keep(offset)
        self._offset = offset
