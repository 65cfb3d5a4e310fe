"""What an import does with a memory, given the same memory as the bank has it."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from streambank.model.memory import Memory


class ImportOutcome(StrEnum):
    """What becomes of a record; the values are the names of the counts."""

    IMPORTED = "imported"
    KEPT = "kept"  # the bank's memory is as new, or newer
    RENAMED = "renamed"  # imported under a new id: another memory or session has its own
    CONFLICTING = "conflicting"  # both ids of a session are taken
    EXPIRED = "expired"
    ERASED = "erased"


def decide_import(incoming: Memory, existing: Memory | None, *, is_renamed: bool, now: datetime) -> ImportOutcome:
    """Return what becomes of *incoming*; it replaces *existing* only if that was last changed before it.

    *existing* is the same memory: from the same beginning, whatever became of it in either bank.
    """
    if not incoming.is_live(now):
        return ImportOutcome.EXPIRED
    if existing and (existing.deleted or existing.is_live(now)):
        last_change = max(existing.updated, existing.deleted or existing.updated)
        if last_change >= incoming.updated:
            return ImportOutcome.KEPT
    return ImportOutcome.RENAMED if is_renamed else ImportOutcome.IMPORTED
