"""What a search looks at beside memories: raw events, and where they are kept."""

from __future__ import annotations

from dataclasses import dataclass

from streambank.model.event import StoredEvent
from streambank.model.stream import StreamId


@dataclass(frozen=True, slots=True)
class RawEvent:
    """An accepted event of a stream; *is_pending* tells that no memories were made of its window yet."""

    stream: StreamId
    window: int
    event: StoredEvent
    is_pending: bool

    @property
    def place(self) -> tuple[str, int]:
        """Return stream and number: what memories cite an event by."""
        return self.stream.sid, self.event.seq


@dataclass(frozen=True, slots=True)
class EventScan:
    """The raw events that a search looks at, newest first; *is_cut* tells that a scope has more."""

    events: tuple[RawEvent, ...] = ()
    is_cut: bool = False
