"""When a text holds, and when it was stated."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class Validity:
    """From when until when a text holds, as its words say; None where they do not."""

    start: datetime | None = None
    end: datetime | None = None

    @property
    def is_open(self) -> bool:
        """Tell whether the words give neither end."""
        return self.start is None and self.end is None

    @property
    def is_possible(self) -> bool:
        """Tell whether the end is after the start, by a millisecond at least: more is not stored."""
        return self.start is None or self.end is None or self.end - self.start >= _MILLISECOND

    def is_over(self, at: datetime) -> bool:
        """Tell whether the text holds no more at *at*."""
        return self.end is not None and self.end <= at


OPEN = Validity()


@dataclass(frozen=True, slots=True)
class Statement:
    """A text was stated at *at*, by its evidence, and the service learnt it at *learnt*."""

    at: datetime
    learnt: datetime


@dataclass(frozen=True, slots=True)
class Moment:
    """A time to look back to: what was true at *true_at*, by what was known at *known_at*; None means now."""

    true_at: datetime | None = None
    known_at: datetime | None = None
