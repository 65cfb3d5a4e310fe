"""The service's clock: the wall clock, which can be moved forward."""

import threading
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """A source of the current time."""

    def now(self) -> datetime:
        """Return the aware time in UTC."""
        ...


class MovableClock:
    """The wall clock plus an offset that never decreases."""

    def __init__(self) -> None:
        self._offset = timedelta()
        self._lock = threading.Lock()

    def now(self) -> datetime:
        """Return the aware time in UTC."""
        return datetime.now(UTC) + self._offset

    def advance(self, by: timedelta) -> None:
        """Move the clock forward; raises ValueError for a step back."""
        if by < timedelta():
            raise ValueError("the clock only moves forward")
        with self._lock:
            self._offset += by

    def advance_to(self, time: datetime) -> None:
        """Move the clock forward to *time*, or do nothing if it is later already."""
        with self._lock:
            self._offset += max(time - self.now(), timedelta())
