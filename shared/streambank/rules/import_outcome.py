"""What an import does with a memory, given the memory that the bank has."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from streambank.model.memory import Memory


class ImportOutcome(StrEnum):
    """What becomes of a record; the values are the names of the counts."""

    IMPORTED = "imported"
    KEPT = "kept"  # the bank's memory is as new, or newer
    CONFLICTING = "conflicting"  # another scope has the id
    EXPIRED = "expired"
    ERASED = "erased"


def decide_import(incoming: Memory, existing: Memory | None, *, is_id_taken: bool, now: datetime) -> ImportOutcome:
    """Return what becomes of *incoming*; it replaces only a memory that was last changed before it.

    *is_id_taken* is True if another scope has a memory with this id.
    """
    if not incoming.is_live(now):
        return ImportOutcome.EXPIRED
    if is_id_taken:
        return ImportOutcome.CONFLICTING
    if existing is None or (existing.deleted is None and not existing.is_live(now)):
        return ImportOutcome.IMPORTED
    last_change = max(existing.updated, existing.deleted or existing.updated)
    return ImportOutcome.KEPT if last_change >= incoming.updated else ImportOutcome.IMPORTED
