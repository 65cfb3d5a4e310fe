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
    """Return the kind of *change*, or None if no reply shows it: only the evidence, or what is derived, is another."""
    before, after = change.before, change.after
    if after.deleted:
        if before is None or before.deleted:
            return None
        return ChangeKind.MERGED if change.tombstone and change.tombstone.is_merge else ChangeKind.DELETED
    if before is None:
        return ChangeKind.CREATED
    if before.deleted:
        return ChangeKind.RESTORED
    shown = replace(
        after,
        evidence=before.evidence,
        vector=before.vector,
        former=before.former,
        first_revision=before.first_revision,
        call=before.call,
    )
    return None if shown == before else ChangeKind.UPDATED


def changed_memories(changes: Iterable[Change]) -> tuple[ChangedMemory, ...]:
    """Return what the feed tells of *changes*, in their order."""
    kinds = ((kind_of(change), change) for change in changes)
    return tuple(ChangedMemory(kind, change.after.id, _revision(change)) for kind, change in kinds if kind)


def _revision(change: Change) -> int | None:
    return change.revision.number if change.revision else None


def record_expiry(config: BankConfig, *, now: datetime) -> datetime:
    """Return until when a record of *now* is kept: as long as a bank's revisions are, also where it keeps none."""
    lifetime: timedelta = config.revision_ttl or DEFAULT_REVISION_TTL
    return now + lifetime
