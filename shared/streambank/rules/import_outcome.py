"""What an import does with a memory, given what is there."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from streambank.model.memory import Memory


class ImportOutcome(StrEnum):
    """What becomes of a record; the names are those of the counts."""

    TAKEN_IN = "imported"
    KEPT = "kept"  # what is there is as new, or newer
    ELSEWHERE = "conflicting"  # the id is another's
    EXPIRED = "expired"
    ERASED = "erased"


def decide_import(incoming: Memory, present: Memory | None, *, is_elsewhere: bool, now: datetime) -> ImportOutcome:
    """Return what becomes of *incoming*: it takes the place of nothing that was changed, or deleted, as late as it."""
    if not incoming.is_live(now):
        return ImportOutcome.EXPIRED
    if is_elsewhere:
        return ImportOutcome.ELSEWHERE
    if present is None or (present.deleted is None and not present.is_live(now)):
        return ImportOutcome.TAKEN_IN
    touched = max(present.updated, present.deleted or present.updated)
    return ImportOutcome.KEPT if touched >= incoming.updated else ImportOutcome.TAKEN_IN
