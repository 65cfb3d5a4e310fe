"""Memories, their revisions, evidence and citations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum

from streambank.model.event import CallMarker
from streambank.model.metadata import Metadata
from streambank.model.tombstone import Tombstone
from streambank.model.validity import OPEN, Statement, Validity

# How long the revisions of a deleted memory can be read, and the memory can be rolled back.
RECOVERABLE = timedelta(hours=48)


class ManagedTopic(StrEnum):
    """The topics of every bank whose configuration names none."""

    USER_PERSONAL_INFO = "USER_PERSONAL_INFO"
    USER_PREFERENCES = "USER_PREFERENCES"
    KEY_CONVERSATION_DETAILS = "KEY_CONVERSATION_DETAILS"
    EXPLICIT_INSTRUCTIONS = "EXPLICIT_INSTRUCTIONS"


@dataclass(frozen=True, slots=True)
class Evidence:
    """The events behind a fact: a window of a stream, and the numbers of its events, in their order.

    *hashes* are the keyed hashes of the same events, an empty text for one without; none where none has one.
    """

    sid: str
    window: int
    seqs: tuple[int, ...]
    hashes: tuple[str, ...] = ()

    def newest(self, count: int) -> Evidence:
        """Return the last *count* events of it."""
        return Evidence(self.sid, self.window, self.seqs[-count:], self.hashes[-count:])

    @property
    def _hash_of(self) -> dict[int, str]:
        return dict(zip(self.seqs, self.hashes or ("",) * len(self.seqs), strict=True))

    def joined(self, other: Evidence) -> Evidence:
        """Return the events of both; *other* is of the same window."""
        hashes = self._hash_of | other._hash_of
        seqs = tuple(sorted(hashes))
        known = tuple(hashes[seq] for seq in seqs)
        return Evidence(self.sid, self.window, seqs, known if any(known) else ())


@dataclass(frozen=True, slots=True)
class Profile:
    """The schema that a profile belongs to, and the time of the newest evidence of each field."""

    schema: str
    times: Mapping[str, datetime] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Memory:
    """A fact of a scope; *revision* numbers its last revision, or is 0; *as_of* is the time of its newest evidence.

    The fact of a profile is the JSON of its data. *own_revision* is the revision that made the text: no item of its own
    is stored for it as long as the memory has that text. *former* are the keyed hashes of earlier texts, oldest first.
    *call* is the marker of the call that created it under an idempotency key. Generations change nothing of a *pinned*
    memory but its evidence. *validity* and *statements* are those of the text, in the order in which they were learnt.
    A text was lost before *whole_since* where revisions were off. The revisions up to number *hidden* have a part that
    was to be forgotten: they are shown as of no time. *origins* are the scopes, as canonical JSON,
    that it was moved from: some of its hashes may be of those.
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
    own_revision: Revision | None = None
    former: tuple[str, ...] = ()
    call: CallMarker | None = None
    origins: tuple[str, ...] = ()
    pinned: bool = False
    validity: Validity = OPEN
    statements: tuple[Statement, ...] = ()
    whole_since: datetime | None = None
    hidden: int = 0

    @property
    def fingerprint(self) -> str:
        """Return a text that changes whenever a model might decide differently about this memory."""
        return f"{self.revision} {self.updated.isoformat()} {self.as_of.isoformat()}"

    def is_live(self, now: datetime) -> bool:
        """Tell whether a read may return this memory at *now* (I9: DynamoDB's TTL lags up to 48 hours)."""
        expired = self.expires is not None and self.expires <= now
        return self.deleted is None and not expired

    def is_recorded_by(self, revision: Revision) -> bool:
        """Tell whether *revision* says of the text what this memory does: it can be its own revision."""
        return (revision.fact, revision.validity, revision.is_profile, revision.is_late) == (
            self.fact,
            self.validity,
            self.profile is not None,
            False,
        )

    @property
    def whole_revision(self) -> Revision | None:
        """Return its own revision with what the memory says of the text."""
        own = self.own_revision
        return own and replace(own, validity=self.validity, statements=self.statements, vector=self.vector)


@dataclass(frozen=True, slots=True)
class Revision:
    """An immutable record of one change of a memory; *fact* is empty if the change was its deletion.

    *statements* say when the text was stated. A correction says that the text before it was never true. A late revision
    has evidence that was older than the memory's: it never was the memory's text. *vector* is that of the text.
    """

    memory_id: str
    number: int
    fact: str
    created: datetime
    expires: datetime | None
    labels: dict[str, str] = field(default_factory=dict)
    extracted: tuple[str, ...] = ()
    is_profile: bool = False
    validity: Validity = OPEN
    statements: tuple[Statement, ...] = ()
    is_correction: bool = False
    is_late: bool = False
    vector: bytes = b""

    @property
    def as_of(self) -> datetime:
        """Return the time of its newest evidence; one of an earlier release has that of its creation."""
        return max((one.at for one in self.statements), default=self.created)

    def is_live(self, now: datetime) -> bool:
        """Tell whether a read may return this revision at *now*."""
        return self.expires is None or self.expires > now


@dataclass(frozen=True, slots=True)
class Citation:
    """The text of the turns that candidate *number* of a window cites."""

    sid: str
    window: int
    number: int
    text: str
    expires: datetime

    def is_live(self, now: datetime) -> bool:
        """Tell whether a read may use the text at *now*: only as long as the events are kept."""
        return self.expires > now


@dataclass(frozen=True, slots=True)
class Change:
    """A memory before and after a change, its revision and its citation; *before* is None for a new memory.

    A change that restores a deleted memory removes the tombstone of the deletion.
    """

    before: Memory | None
    after: Memory
    revision: Revision | None
    citation: Citation | None = None
    tombstone: Tombstone | None = None

    def stored_revisions(self, now: datetime) -> tuple[Revision, ...]:
        """Return the revisions that get items of their own: what was the memory's own is one once it has another."""
        own = self.before.whole_revision if self.before else None
        kept = self.after.own_revision.number if self.after.own_revision else None
        is_over = own is not None and own.number != kept and own.is_live(now)
        is_item = self.revision is not None and self.revision.number != kept
        return tuple(
            one for one, is_stored in ((own, is_over), (self.revision, is_item)) if one is not None and is_stored
        )
