"""The records of an export, one a line: what an export writes and an import reads."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from streambank.model.chat import ChatHistory
from streambank.model.consent import Consent
from streambank.model.content_policy import Finding
from streambank.model.event import Event
from streambank.model.memory import Citation, Memory, Revision
from streambank.model.review import Review
from streambank.model.rule import TriggerRule
from streambank.model.session import Session, SessionEvent
from streambank.model.stream import StreamId
from streambank.model.window import Window


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """A memory with its revisions and citations."""

    memory: Memory
    revisions: tuple[Revision, ...] = ()
    citations: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class SessionEventRecord:
    """An event of a session; *first* distinguishes the session from an earlier one with the same id."""

    session_id: str
    first: int
    event: SessionEvent


@dataclass(frozen=True, slots=True)
class StreamRecord:
    """A stream: the number of its newest event, that of its newest window with events, its rule and its times."""

    stream: StreamId
    seq: int
    window: int
    rule: TriggerRule | None = None
    anchor: datetime | None = None
    last_arrival: datetime | None = None


@dataclass(frozen=True, slots=True)
class BatchRecord:
    """Events that were accepted together; *first* is the number of the first."""

    stream: StreamId
    first: int
    window: int
    arrived: datetime
    events: tuple[Event, ...]
    expires: datetime | None = None

    @property
    def last(self) -> int:
        """Return the number of the last event."""
        return self.first + len(self.events) - 1


@dataclass(frozen=True, slots=True)
class MarkerRecord:
    """The marker of an accepted event, stored under *key*."""

    stream: StreamId
    key: str
    seq: int
    window: int
    expires: datetime
    fingerprint: bytes = b""
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class ConsentRecord:
    """The consent of a scope that was set at least once."""

    scope: dict[str, str]
    consent: Consent


@dataclass(frozen=True, slots=True)
class ReviewedText:
    """A memory that a review would change, by its id and its creation, and the text that it had then."""

    memory_id: str
    created: datetime
    fact: str


@dataclass(frozen=True, slots=True)
class ReviewRecord:
    """An open review, which names its memories by *memories* alone."""

    review: Review
    memories: tuple[ReviewedText, ...] = ()


InStream = StreamRecord | BatchRecord | MarkerRecord | Window
Record = MemoryRecord | ReviewRecord | Session | SessionEventRecord | ChatHistory | ConsentRecord | InStream
