"""What the callers know at the end: the events that they sent, and the counts in the replies."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from benchmarks.load.callers import CallResult
from benchmarks.load.calls import Stream


@dataclass(slots=True)
class SentEvents:
    """The sent events of a stream by their numbers, and the sum of the acceptedEvents of its replies.

    A failed try may have written its events, which its retry then counts as duplicates: these are *uncertain*.
    """

    events: set[int] = field(default_factory=set)
    accepted: int = 0
    uncertain: set[int] = field(default_factory=set)
    failed_calls: int = 0

    def add(self, result: CallResult) -> None:
        if not result.is_accepted:
            self.failed_calls += 1
            self.uncertain.update(result.call.events)
            return
        self.events.update(result.call.events)
        self.accepted += result.accepted
        if len(result.statuses) > 1:
            self.uncertain.update(result.call.events)


def by_stream(results: Iterable[CallResult]) -> dict[Stream, SentEvents]:
    """Return the sent events of each stream."""
    streams: dict[Stream, SentEvents] = {}
    for result in results:
        streams.setdefault(result.call.stream, SentEvents()).add(result)
    return streams
