"""What the callers know at the end: what they sent, and what they were told."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from benchmarks.load.calls import Stream
from benchmarks.load.driving import Answer


@dataclass(slots=True)
class Sent:
    """One stream's side of the books: events by their numbers, and the sum of what calls were told was accepted.

    A try that failed may have written; what it wrote is told as a duplicate by the next, so those are set apart.
    """

    events: set[int] = field(default_factory=set)
    accepted: int = 0
    unsure: set[int] = field(default_factory=set)
    untaken: int = 0

    def add(self, answer: Answer) -> None:
        if not answer.is_taken:
            self.untaken += 1
            self.unsure.update(answer.call.events)
            return
        self.events.update(answer.call.events)
        self.accepted += answer.accepted
        if len(answer.statuses) > 1:
            self.unsure.update(answer.call.events)


def books(answers: Iterable[Answer]) -> dict[Stream, Sent]:
    """Return what was sent, by streams."""
    streams: dict[Stream, Sent] = {}
    for answer in answers:
        streams.setdefault(answer.call.stream, Sent()).add(answer)
    return streams
