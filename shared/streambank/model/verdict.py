"""Verdicts: what became of each candidate."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

# Reasons that more than one rule gives.
NEW = "new"
RESTATED = "restated"
SUPERSEDED = "superseded by newer evidence"


class Verdict(StrEnum):
    """What became of a candidate."""

    CREATED = "CREATED"
    UPDATED = "UPDATED"
    DELETED = "DELETED"
    UNCHANGED = "UNCHANGED"
    REJECTED = "REJECTED"


@dataclass(frozen=True, slots=True)
class RecordedVerdict:
    """The verdict on candidate number *number*, and the revisions before and after it.

    *seqs* are the events that the candidate cites. Where a candidate has several verdicts, only the first one has them.
    """

    number: int
    verdict: Verdict
    fact: str
    reason: str = ""
    memory_id: str | None = None
    revision: int | None = None
    previous_revision: int | None = None
    seqs: tuple[int, ...] = ()
