"""Changes that callers make to a memory: create, update, roll back."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from streambank.errors import FailedPrecondition, InvalidArgument
from streambank.model.bank import BankConfig
from streambank.model.event import CallMarker
from streambank.model.memory import Change, Memory, Revision
from streambank.model.metadata import Metadata
from streambank.model.rule import WindowSettings
from streambank.model.validity import OPEN, Validity
from streambank.rules import history
from streambank.rules.consolidation import keeps_revisions, new_memory, revision_expiry
from streambank.rules.keyed_hashes import KeyedHashes, former_texts

# The fields that an update may change, in the wire's camelCase; `fact` and the validity make revisions. Others are
# ignored.
CHANGEABLE = frozenset(
    {
        *("fact", "displayName", "description", "topics", "metadata", "ttl", "expireTime", "pinned"),
        *("validFrom", "validUntil"),
    }
)
IGNORED = frozenset({"scope", "name", "revisionTtl", "revisionExpireTime", "revisionLabels", "disableMemoryRevisions"})


@dataclass(frozen=True, slots=True)
class Edit:
    """A memory as a caller sends it; *fields* are the fields that it sets, *expires* is an instant already."""

    fields: AbstractSet[str]
    fact: str = ""
    display_name: str | None = None
    description: str | None = None
    topics: tuple[str, ...] = ()
    metadata: Metadata = field(default_factory=dict)
    expires: datetime | None = None
    pinned: bool = False
    settings: WindowSettings = field(default_factory=WindowSettings)
    validity: Validity = OPEN


def creation(
    memory_id: str,
    scope: dict[str, str],
    edit: Edit,
    config: BankConfig,
    vector: bytes,
    call: CallMarker | None = None,
    *,
    now: datetime,
) -> Change:
    """Return the change that creates a memory as a caller states it, under the idempotency key of *call* if any."""
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
        revision=int(keeps_revisions(edit.settings, config)),
        call=call,
        pinned=edit.pinned,
        validity=edit.validity,
    )
    return new_memory(memory, _revision(memory, edit.settings, config, now=now))


def update(
    memory: Memory, edit: Edit, config: BankConfig, vector: bytes, hashes: KeyedHashes, *, now: datetime
) -> Change:
    """Return the change that *edit* makes to *memory*: the fields that it sets, and the expiry that follows.

    Raises:
        FailedPrecondition: the edit sets the fact of a profile, which is its data.
        InvalidArgument: the text would end before it begins.
    """
    fields = edit.fields
    if memory.profile and "fact" in fields:
        raise FailedPrecondition("the fact of a profile cannot be changed; only generations change it")
    fact = edit.fact if "fact" in fields else memory.fact
    validity = _validity(edit, memory)
    is_new_text = (fact, validity) != (memory.fact, memory.validity)
    after = replace(
        memory,
        fact=fact,
        validity=validity,
        vector=vector if "fact" in fields else memory.vector,
        display_name=edit.display_name if "displayName" in fields else memory.display_name,
        description=edit.description if "description" in fields else memory.description,
        topics=edit.topics if "topics" in fields else memory.topics,
        metadata=edit.metadata if "metadata" in fields else memory.metadata,
        pinned=edit.pinned if "pinned" in fields else memory.pinned,
        expires=_expiry(edit, config.update_ttl, memory.expires, now=now),
        as_of=now if "fact" in fields or is_new_text else memory.as_of,
        updated=now,
        revision=memory.revision + (is_new_text and keeps_revisions(edit.settings, config)),
        former=former_texts(memory, fact, hashes),
    )
    if not is_new_text:
        return Change(memory, history.with_statement(after, now, now=now) if "fact" in fields else after, None)
    # A caller puts a text right, unless the edit says from when another text holds.
    is_correction = fact == memory.fact or "validFrom" not in fields
    return _with_text(
        memory, after, _revision(after, edit.settings, config, now=now), is_correction=is_correction, now=now
    )


def _validity(edit: Edit, memory: Memory) -> Validity:
    """Return when the text of *memory* holds after *edit*. Raises InvalidArgument if it would end before it begins."""
    start = edit.validity.start if "validFrom" in edit.fields else memory.validity.start
    end = edit.validity.end if "validUntil" in edit.fields else memory.validity.end
    validity = Validity(start, end)
    if not validity.is_possible:
        raise InvalidArgument("validUntil", "must be after validFrom")
    return validity


def _with_text(
    before: Memory, after: Memory, revision: Revision | None, *, is_correction: bool, now: datetime
) -> Change:
    """Return the change to another text."""
    revision = revision and replace(revision, is_correction=is_correction)
    return Change(before, history.with_next_text(before, after, revision, now, now=now), revision)


def rollback(
    memory: Memory, target: Revision, config: BankConfig, vector: bytes, hashes: KeyedHashes, *, now: datetime
) -> Change:
    """Return the change that restores the fact of *target*; a deleted memory exists again.

    Raises:
        FailedPrecondition: the target is the empty revision of a deletion, or the memory has expired.
    """
    if not target.fact:
        raise FailedPrecondition(f"revision {target.number} is a deletion; there is nothing to roll back to")
    if memory.expires is not None and memory.expires <= now:
        raise FailedPrecondition("the memory has expired; there is nothing to roll back")
    after = replace(
        memory,
        fact=target.fact,
        vector=vector,
        deleted=None,
        as_of=now,
        updated=now,
        revision=memory.revision + keeps_revisions(WindowSettings(), config),
        own_revision=None,
        validity=target.validity,
        former=former_texts(memory, target.fact, hashes),
    )
    return _with_text(memory, after, _revision(after, WindowSettings(), config, now=now), is_correction=True, now=now)


def _expiry(edit: Edit, ttl: timedelta | None, current: datetime | None, *, now: datetime) -> datetime | None:
    """Return the expiry of the request, else the bank's TTL from *now* on, else the current expiry."""
    if edit.fields & {"ttl", "expireTime"}:
        return edit.expires
    return now + ttl if ttl else current


def _revision(memory: Memory, settings: WindowSettings, config: BankConfig, *, now: datetime) -> Revision | None:
    if not keeps_revisions(settings, config):
        return None
    expires, labels = revision_expiry(settings, config, now=now), settings.revision_labels or {}
    return Revision(memory.id, memory.revision, memory.fact, now, expires, labels, is_profile=bool(memory.profile))


def parse_update_mask(names: AbstractSet[str]) -> AbstractSet[str]:
    """Return the fields that an update mask names. Raises InvalidArgument for a field that cannot be changed."""
    unknown = names - CHANGEABLE - IGNORED
    if unknown:
        raise InvalidArgument("updateMask", "names " + ", ".join(sorted(unknown)) + ", which cannot be changed")
    return names & CHANGEABLE
