"""The head of a stream: its counters and its open window."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from streambank.model.event import CallMarker, KeyedEvent
from streambank.model.rule import Reason, TriggerRule, WindowSettings


@dataclass(frozen=True, slots=True)
class StreamId:
    """Which stream: its bank and key, with the scope and the name that the key was derived from."""

    bank: str
    sid: str
    scope: dict[str, str]
    name: str


@dataclass(frozen=True, slots=True)
class Head:
    """Counters of a stream and of its open window; *version* counts every write of it.

    *size* is in bytes of JSON, *tokens* an estimate of those of the events' texts.

    *seq* is the last event's number, *start* the open window's first; *due* is what index `due` has, never later
    than the window's true due time; *seal_reason* is why the window must be sealed, and once set it stays.
    *has_gaps* tells that events of a sealed window were missing; once set it stays. While *is_moving* a move of a scope
    brings its events: nothing is accepted or sealed.
    """

    stream: StreamId
    version: int = 0
    seq: int = 0
    window: int = 1
    start: int = 1
    count: int = 0
    size: int = 0
    tokens: int = 0
    first_arrival: datetime | None = None
    last_arrival: datetime | None = None
    anchor: datetime | None = None
    rule: TriggerRule | None = None
    seal_reason: Reason | None = None
    settings: WindowSettings = field(default_factory=WindowSettings)
    due: datetime | None = None
    has_gaps: bool = False
    is_moving: bool = False


@dataclass(frozen=True, slots=True)
class IngestCall:
    """One validated call; *rule* is None where the call has none, and empty where it asks for a flush at once.

    *marker* is that of its idempotency key, if it has one.
    """

    stream: StreamId
    events: tuple[KeyedEvent, ...] = ()
    rule: TriggerRule | None = None
    force: bool = False
    settings: WindowSettings = field(default_factory=WindowSettings)
    marker: CallMarker | None = None

    @property
    def marker_keys(self) -> list[str]:
        """Return the keys of the markers that tell whether the call, or its events, were accepted before."""
        of_call = [self.marker.key] if self.marker else []
        return [keyed.key for keyed in self.events if keyed.key] + of_call
