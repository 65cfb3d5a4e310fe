"""Change records: what the change feed tells of a committed write, without any text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from streambank.model.ids import OperationId


class ChangeKind(StrEnum):
    """What happened to a memory, or to a scope: ERASED. A move is MOVED in the target, MOVED_AWAY in the source."""

    CREATED = "CREATED"
    UPDATED = "UPDATED"
    DELETED = "DELETED"
    MERGED = "MERGED"
    RESTORED = "RESTORED"
    PINNED = "PINNED"
    UNPINNED = "UNPINNED"
    MOVED = "MOVED"
    MOVED_AWAY = "MOVED_AWAY"
    ERASED = "ERASED"


@dataclass(frozen=True, slots=True)
class ChangedMemory:
    """One memory of a record, and the number of the revision that it has since, or None; an erasure names no memory."""

    kind: ChangeKind
    memory_id: str = ""
    revision: int | None = None


@dataclass(frozen=True, slots=True)
class ChangeStamp:
    """When a write was committed, until when its record is kept, and the operation of the window that it is from."""

    time: datetime
    expires: datetime
    operation: OperationId | None = None


@dataclass(frozen=True, slots=True)
class ChangeRecord:
    """The changes of one transaction in a scope; *version* is the version of the scope after it, which numbers it."""

    cid: str
    version: int
    stamp: ChangeStamp
    memories: tuple[ChangedMemory, ...]


@dataclass(frozen=True, slots=True, order=True)
class RecordPosition:
    """Where a record is in a bank's feed: records are in the order of their times."""

    time_ms: int
    cid: str = ""
    version: int = 0


@dataclass(frozen=True, slots=True)
class FeedChange:
    """A change as the feed tells it: memory *number* of a record, and the scope of both."""

    record: ChangeRecord
    number: int
    scope: Mapping[str, str]

    @property
    def id(self) -> str:
        """Return an id that is the same whenever this change is told."""
        return f"{self.record.cid}-{self.record.version}-{self.number}"

    @property
    def memory(self) -> ChangedMemory:
        """Return what happened to which memory."""
        return self.record.memories[self.number]
