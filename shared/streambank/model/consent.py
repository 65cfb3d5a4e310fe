"""Consent: whether anything is learnt about a scope."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

# Older pauses become one: what was said between them is not learnt either.
MAX_PAUSES = 20
# What a call is told that would make memories all the same.
LEARNING_DISABLED = "the scope is set to learn nothing; set its learning to ENABLED first"


class Learning(StrEnum):
    """Whether memories are made of what is said in a scope."""

    ENABLED = "ENABLED"
    DISABLED = "DISABLED"


@dataclass(frozen=True, slots=True)
class Pause:
    """A time in which nothing is learnt: from *start* to before *end*, or until further notice."""

    start: datetime
    end: datetime | None = None


@dataclass(frozen=True, slots=True)
class Consent:
    """The pauses of a scope in their order; only the last one may have no end."""

    pauses: tuple[Pause, ...] = ()

    @property
    def learning(self) -> Learning:
        """Return whether anything is learnt now."""
        is_paused = bool(self.pauses) and self.pauses[-1].end is None
        return Learning.DISABLED if is_paused else Learning.ENABLED

    @property
    def changed(self) -> datetime | None:
        """Return when it changed last, or None if it never did."""
        return (self.pauses[-1].end or self.pauses[-1].start) if self.pauses else None

    def forbids(self, time: datetime | None) -> bool:
        """Tell whether an event that was said at *time* is not learnt, however late it comes; None is a time now."""
        if self.learning is Learning.DISABLED:
            return True
        return time is not None and any(one.start <= time < one.end for one in self.pauses if one.end)

    def joined(self, other: Consent) -> Consent:
        """Return the consent of both: nothing is learnt in a time in which one of them forbids it."""
        joined: list[Pause] = []
        for one in sorted((*self.pauses, *other.pauses), key=lambda pause: pause.start):
            last = joined[-1] if joined else None
            if last is None or (last.end is not None and last.end < one.start):
                joined.append(one)
            else:
                is_open = last.end is None or one.end is None
                joined[-1] = replace(last, end=None if is_open else max(last.end or one.start, one.end or one.start))
        while len(joined) > MAX_PAUSES:
            joined[:2] = [Pause(joined[0].start, joined[1].end)]
        return Consent(tuple(joined))

    def changed_to(self, learning: Learning, *, now: datetime) -> Consent:
        """Return the consent after a change at *now*; the same setting again changes nothing."""
        if learning is self.learning:
            return self
        if learning is Learning.ENABLED:
            return Consent((*self.pauses[:-1], replace(self.pauses[-1], end=now)))
        pauses = (*self.pauses, Pause(now))
        if len(pauses) > MAX_PAUSES:
            pauses = (Pause(pauses[0].start, pauses[1].end), *pauses[2:])
        return Consent(pauses)
