"""Memories, their revisions, and the values that hang on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from streambank.model.metadata import Metadata

# How long a deleted memory's revisions can be read, and the memory be rolled back.
RECOVERABLE = timedelta(hours=48)


class ManagedTopic(StrEnum):
    """The topics that every bank knows unless its configuration says otherwise."""

    USER_PERSONAL_INFO = "USER_PERSONAL_INFO"
    USER_PREFERENCES = "USER_PREFERENCES"
    KEY_CONVERSATION_DETAILS = "KEY_CONVERSATION_DETAILS"
    EXPLICIT_INSTRUCTIONS = "EXPLICIT_INSTRUCTIONS"


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where a fact was said: a window of a stream and the numbers of the events there."""

    sid: str
    window: int
    seqs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Profile:
    """What makes a memory the profile of a schema: the schema's id, and how new the evidence of each field is."""

    schema: str
    times: Mapping[str, datetime] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Memory:
    """A fact of a scope; *revision* is its last recorded revision, 0 where none was, *as_of* its newest evidence.

    The fact of a profile is the JSON of its data.
    """

    id: str
    fact: str
    scope: dict[str, str]
    created: datetime
    updated: datetime
    as_of: datetime
    revision: int = 1
    topics: tuple[str, ...] = ()
    metadata: Metadata = field(default_factory=dict)
    vector: bytes = b""
    expires: datetime | None = None
    display_name: str | None = None
    description: str | None = None
    evidence: tuple[Evidence, ...] = ()
    deleted: datetime | None = None
    profile: Profile | None = None

    @property
    def mark(self) -> str:
        """Return what changes whenever a decision about this memory might come out differently."""
        return f"{self.revision} {self.updated.isoformat()} {self.as_of.isoformat()}"

    def is_live(self, now: datetime) -> bool:
        """Tell whether any read may show this memory at *now* (I9: DynamoDB's TTL lags up to 48 hours)."""
        expired = self.expires is not None and self.expires <= now
        return self.deleted is None and not expired


@dataclass(frozen=True, slots=True)
class Revision:
    """An immutable record of one change of a memory; *fact* is empty when the memory was deleted."""

    memory_id: str
    number: int
    fact: str
    created: datetime
    expires: datetime | None
    labels: dict[str, str] = field(default_factory=dict)
    extracted: tuple[str, ...] = ()
    is_profile: bool = False

    def is_live(self, now: datetime) -> bool:
        """Tell whether any read may show this revision at *now*."""
        return self.expires is None or self.expires > now


@dataclass(frozen=True, slots=True)
class Citation:
    """What was said where a memory came from: the turns that candidate *number* of a window cites, while they last."""

    sid: str
    window: int
    number: int
    said: str
    expires: datetime

    def is_live(self, now: datetime) -> bool:
        """Tell whether any read may use what was said at *now*: no longer than the events are kept."""
        return self.expires > now


@dataclass(frozen=True, slots=True)
class Change:
    """One memory before and after, the revision that tells it, and what it cites; *before* is None for a new one."""

    before: Memory | None
    after: Memory
    revision: Revision | None
    citation: Citation | None = None
