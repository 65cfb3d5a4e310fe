"""A call that brings events, in the parts that are written one after the other."""

from __future__ import annotations

from dataclasses import dataclass, replace

from streambank.model.content_policy import ContentPolicy
from streambank.model.event import KeyedEvent
from streambank.model.stream import IngestCall
from streambank.pipeline.screening.calls import screened_call
from streambank.pipeline.screening.screening import Screening
from streambank.rules import ingest_parts
from streambank.rules.ingest_parts import DeduplicatedEvents


@dataclass(frozen=True, slots=True)
class CallParts:
    """*call* as it was sent or screened; *dropped* counts what it repeats itself, *parts* hold the rest."""

    call: IngestCall
    dropped: DeduplicatedEvents
    parts: tuple[tuple[KeyedEvent, ...], ...]

    @classmethod
    def of(cls, call: IngestCall) -> CallParts:
        """Return *call* in parts of one transaction each."""
        events, dropped = ingest_parts.drop_repeats(call.events)
        parts = ingest_parts.split_into_parts(events, has_marker=call.marker is not None)
        return cls(call, dropped, tuple(parts))

    @property
    def count(self) -> int:
        """Return the number of parts."""
        return len(self.parts)

    def part(self, index: int) -> IngestCall:
        """Return the call with the events of one part."""
        return replace(self.call, events=self.parts[index])

    def screened(self, policy: ContentPolicy, screening: Screening) -> CallParts:
        """Return the whole call as *policy* leaves it, before any part of it is written. Raises as `screened_call`."""
        return CallParts.of(screened_call(self.call, policy, screening=screening))
