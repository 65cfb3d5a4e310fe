"""What callers do to a memory: changes as values."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from streambank.errors import FailedPrecondition, InvalidArgument
from streambank.model.bank import BankConfig
from streambank.model.memory import Change, Memory, Revision
from streambank.model.metadata import Metadata
from streambank.model.rule import WindowSettings
from streambank.rules.consolidation import revision_expiry

# What an update may name, in the wire's camelCase; `fact` alone makes a revision.
CHANGEABLE = frozenset({"fact", "displayName", "description", "topics", "metadata", "ttl", "expireTime"})
IGNORED = frozenset({"scope", "name", "revisionTtl", "revisionExpireTime", "revisionLabels", "disableMemoryRevisions"})


@dataclass(frozen=True, slots=True)
class Edit:
    """What a caller says about a memory; *named* are the fields that it means, *expires* is settled already."""

    named: AbstractSet[str]
    fact: str = ""
    display_name: str | None = None
    description: str | None = None
    topics: tuple[str, ...] = ()
    metadata: Metadata = field(default_factory=dict)
    expires: datetime | None = None
    settings: WindowSettings = field(default_factory=WindowSettings)


def creation(
    memory_id: str, scope: dict[str, str], edit: Edit, config: BankConfig, vector: bytes, *, now: datetime
) -> Change:
    """Return the change that makes a memory as a caller states it."""
    memory = Memory(
        id=memory_id,
        fact=edit.fact,
        scope=scope,
        created=now,
        updated=now,
        as_of=now,
        topics=edit.topics,
        metadata=edit.metadata,
        vector=vector,
        expires=_expiry(edit, config.create_ttl, None, now=now),
        display_name=edit.display_name,
        description=edit.description,
        revision=int(_keeps_revisions(edit.settings, config)),
    )
    return Change(None, memory, _revision(memory, edit.settings, config, now=now))


def update(memory: Memory, edit: Edit, config: BankConfig, vector: bytes, *, now: datetime) -> Change:
    """Return the change that *edit* makes to *memory*: only what it names, and the expiry that comes with it.

    Raises:
        FailedPrecondition: the fact of a profile, which is its data, was named.
    """
    named = edit.named
    if memory.profile and "fact" in named:
        raise FailedPrecondition("a profile has no fact to change; what is said changes it")
    is_said = "fact" in named and edit.fact != memory.fact
    after = replace(
        memory,
        fact=edit.fact if "fact" in named else memory.fact,
        vector=vector if "fact" in named else memory.vector,
        display_name=edit.display_name if "displayName" in named else memory.display_name,
        description=edit.description if "description" in named else memory.description,
        topics=edit.topics if "topics" in named else memory.topics,
        metadata=edit.metadata if "metadata" in named else memory.metadata,
        expires=_expiry(edit, config.update_ttl, memory.expires, now=now),
        as_of=now if "fact" in named else memory.as_of,
        updated=now,
        revision=memory.revision + (is_said and _keeps_revisions(edit.settings, config)),
    )
    return Change(memory, after, _revision(after, edit.settings, config, now=now) if is_said else None)


def rollback(memory: Memory, target: Revision, config: BankConfig, vector: bytes, *, now: datetime) -> Change:
    """Return the change that brings back what *target* said; a deleted memory lives again.

    Raises:
        FailedPrecondition: the target is the empty revision of a deletion, or the memory's time is over.
    """
    if not target.fact:
        raise FailedPrecondition(f"revision {target.number} is a deletion; there is nothing to roll back to")
    if memory.expires is not None and memory.expires <= now:
        raise FailedPrecondition("the memory has expired meanwhile; there is nothing to bring back")
    after = replace(
        memory,
        fact=target.fact,
        vector=vector,
        deleted=None,
        as_of=now,
        updated=now,
        revision=memory.revision + _keeps_revisions(WindowSettings(), config),
    )
    return Change(memory, after, _revision(after, WindowSettings(), config, now=now))


def _expiry(edit: Edit, ttl: timedelta | None, current: datetime | None, *, now: datetime) -> datetime | None:
    """The request's word wins, then the bank's TTL from now on, else it stays as it is."""
    if edit.named & {"ttl", "expireTime"}:
        return edit.expires
    return now + ttl if ttl else current


def _keeps_revisions(settings: WindowSettings, config: BankConfig) -> bool:
    said = settings.disable_revisions
    return not (config.disable_revisions if said is None else said)


def _revision(memory: Memory, settings: WindowSettings, config: BankConfig, *, now: datetime) -> Revision | None:
    if not _keeps_revisions(settings, config):
        return None
    expires, labels = revision_expiry(settings, config, now=now), settings.revision_labels or {}
    return Revision(memory.id, memory.revision, memory.fact, now, expires, labels, is_profile=bool(memory.profile))


def parse_update_mask(names: AbstractSet[str]) -> AbstractSet[str]:
    """Return the fields that an update mask names. Raises InvalidArgument for one that cannot change."""
    wrong = names - CHANGEABLE - IGNORED
    if wrong:
        raise InvalidArgument("updateMask", "names " + ", ".join(sorted(wrong)) + ", which cannot change")
    return names & CHANGEABLE
