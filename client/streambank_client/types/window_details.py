"""The details of a window: its events, its candidates, and what became of each."""

from __future__ import annotations

from streambank_client.types.base import Instant, Shape
from streambank_client.types.events import Content
from streambank_client.types.policies import PolicyFinding


class WindowEvent(Shape):
    """An event of a window; *not_shown* is the reason if the model was not shown it."""

    sequence: int
    event_id: str | None = None
    event_time: Instant
    content: Content
    not_shown: str | None = None
    content_policy: list[PolicyFinding] = []


class CitedEvent(Shape):
    """An event that a candidate cites."""

    sequence: int
    event_id: str | None = None


class CandidateVerdict(Shape):
    """The verdict on a candidate for one memory."""

    verdict: str
    memory: str | None = None
    reason: str | None = None


class Candidate(Shape):
    """A fact that the model proposed; it has a verdict for each memory that it touched.

    *change* is what it proposed to do with *changed_memories*, and *text* what they were to say.
    """

    number: int
    fact: str
    events: list[CitedEvent] = []
    event_count: int | None = None
    schema_id: str | None = None
    change: str | None = None
    changed_memories: list[str] = []
    text: str | None = None
    verdicts: list[CandidateVerdict] = []


class WindowDetail(Shape):
    """What became of each event and each candidate of a window; the counts are of what is not in the lists.

    *scope* and *stream_id* are those of its stream.
    """

    scope: dict[str, str] = {}
    stream_id: str = ""
    events: list[WindowEvent] = []
    omitted_events: int | None = None
    missing_events: int | None = None
    forgotten_events: int | None = None
    candidates: list[Candidate] = []
    omitted_candidates: int | None = None
    forgotten_candidates: int | None = None
    offered_memories: list[str] = []
    omitted_memories: int | None = None
