"""Reviews: changes of memories that a generation proposes, and that wait for the decision of a caller."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from streambank.model.memory import Evidence, Memory
from streambank.model.validity import OPEN, Validity
from streambank.model.verdict import Verdict


class ReviewAction(StrEnum):
    """What the acceptance of a review does."""

    CREATE = "CREATE"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    MERGE = "MERGE"


class ReviewCause(StrEnum):
    """Why a change waits for review."""

    PINNED = "PINNED"
    POLICY = "POLICY"


class ReviewState(StrEnum):
    """Whether a review was decided; what is left of a decided one is a mark without texts."""

    OPEN = "OPEN"
    ACCEPTED = "ACCEPTED"
    REJECTED = "REJECTED"


@dataclass(frozen=True, slots=True)
class ReviewPolicy:
    """What a bank wants reviewed: generated changes with *verdicts*, of *topics* only where there are any."""

    verdicts: frozenset[Verdict] = frozenset()
    topics: frozenset[str] = frozenset()

    def covers(self, verdicts: Collection[Verdict], topics: Collection[str]) -> bool:
        """Tell whether a change with any of *verdicts*, of something with *topics*, is reviewed."""
        return not self.verdicts.isdisjoint(verdicts) and (not self.topics or not self.topics.isdisjoint(topics))


@dataclass(frozen=True, slots=True)
class ReviewedMemory:
    """A memory that a review would change, and the mark of the text that it had then."""

    id: str
    mark: str


@dataclass(frozen=True, slots=True)
class Review:
    """A change of *memories* that waits: the first of a merge gets the *text*, and the others become part of it.

    *fact* is what candidate *number* of the window of the last *evidence* states, *at* the newest time of all of the
    evidence. *profile* is the id of a schema where the texts are JSON of a profile. *rejected* are the keyed hashes of
    events that proposed the same before, and were rejected. *origins* are those of a memory. The text holds as its
    *validity* says; *is_correction* tells that the texts before were never true, *forgets* that the fact is a request
    to forget. *is_imported* tells that its windows may be others in this bank.
    """

    id: str
    scope: dict[str, str]
    action: ReviewAction
    cause: ReviewCause
    created: datetime
    expires: datetime
    at: datetime
    memories: tuple[ReviewedMemory, ...] = ()
    text: str = ""
    fact: str = ""
    number: int = 0
    topics: tuple[str, ...] = ()
    profile: str = ""
    reason: str = ""
    evidence: tuple[Evidence, ...] = ()
    rejected: frozenset[str] = frozenset()
    state: ReviewState = ReviewState.OPEN
    origins: tuple[str, ...] = ()
    validity: Validity = OPEN
    is_correction: bool = False
    forgets: bool = False
    is_imported: bool = False

    @property
    def event_hashes(self) -> list[str]:
        """Return the keyed hashes of the events that it cites, an empty text for an event without one."""
        return [one for evidence in self.evidence for one in evidence.hashes or ("",) * len(evidence.seqs)]

    def is_live(self, now: datetime) -> bool:
        """Tell whether a read may return this review at *now*."""
        return self.expires > now


@dataclass(frozen=True, slots=True)
class ReviewWithMemories:
    """A review, and those of its memories that are live, as they are now."""

    review: Review
    memories: tuple[Memory, ...]
