"""What the change feed tells of a change, and for how long."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

from streambank.model.bank import BankConfig
from streambank.model.change_record import ChangedMemory, ChangeKind
from streambank.model.memory import Change
from streambank.rules.consolidation import DEFAULT_REVISION_TTL


def kind_of(change: Change) -> ChangeKind | None:
    """Return the kind of *change*, or None if it only pins a memory, or if no reply shows it.

    A change of the evidence, or of what is derived, is shown by none.
    """
    before, after = change.before, change.after
    if after.deleted:
        if before is None or before.deleted:
            return None
        return ChangeKind.MERGED if change.tombstone and change.tombstone.is_merge else ChangeKind.DELETED
    if before is None:
        return ChangeKind.CREATED
    if before.deleted:
        return ChangeKind.RESTORED
    is_pin_only = after.pinned != before.pinned
    comparable = replace(
        after,
        pinned=before.pinned,
        updated=before.updated if is_pin_only else after.updated,
        evidence=before.evidence,
        vector=before.vector,
        former=before.former,
        own_revision=before.own_revision,
        call=before.call,
    )
    return None if comparable == before else ChangeKind.UPDATED


def pin_kind_of(change: Change) -> ChangeKind | None:
    """Return whether *change* pins a memory that is there, or ends that; None if it does neither."""
    before, after = change.before, change.after
    if before is None or before.deleted or after.deleted or before.pinned == after.pinned:
        return None
    return ChangeKind.PINNED if after.pinned else ChangeKind.UNPINNED


def changed_memories(changes: Iterable[Change]) -> tuple[ChangedMemory, ...]:
    """Return what the feed tells of *changes*, in their order."""
    kinds = ((kind, change) for change in changes for kind in (kind_of(change), pin_kind_of(change)))
    return tuple(ChangedMemory(kind, change.after.id, _revision(change)) for kind, change in kinds if kind)


def _revision(change: Change) -> int | None:
    return change.revision.number if change.revision else None


def record_expiry(config: BankConfig, *, now: datetime) -> datetime:
    """Return until when a record of *now* is kept: as long as a bank's revisions are, also where it keeps none."""
    lifetime: timedelta = config.revision_ttl or DEFAULT_REVISION_TTL
    return now + lifetime
