"""What became of each event and each candidate of a window."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from streambank.model.coverage import NotShown
from streambank.model.event import StoredEvent
from streambank.model.plan import Candidate
from streambank.model.stream import StreamId
from streambank.model.verdict import RecordedVerdict


@dataclass(frozen=True, slots=True)
class EventDetail:
    """An event of a window; *not_shown* is why the model was not shown it, None if it was, or is not yet."""

    event: StoredEvent
    not_shown: NotShown | None = None


@dataclass(frozen=True, slots=True)
class CandidateDetail:
    """Candidate number *number* of a window, from 0, and the verdicts on it: one for each memory."""

    number: int
    candidate: Candidate
    verdicts: tuple[RecordedVerdict, ...] = ()


@dataclass(frozen=True, slots=True)
class WindowDetail:
    """The stream of a window, its events that are still stored, in the order in which the model reads them.

    *missing_events* counts those that have expired, were erased or were lost. *forgotten_events* counts those that a
    deleted memory cited, *forgotten_candidates* the candidates that cite one of these; neither are in the lists.
    *event_ids* are the callers' ids of events by their numbers, also of cited events of an earlier window. *offered*
    are the ids of the memories that the model was given.
    """

    stream: StreamId
    events: tuple[EventDetail, ...] = ()
    candidates: tuple[CandidateDetail, ...] = ()
    offered: tuple[str, ...] = ()
    missing_events: int = 0
    forgotten_events: int = 0
    forgotten_candidates: int = 0
    event_ids: Mapping[int, str] = field(default_factory=dict)
