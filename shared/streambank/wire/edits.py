"""Bodies that make, change, roll back and purge memories."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from streambank.errors import InvalidArgument
from streambank.model.metadata import Metadata
from streambank.rules.edits import CHANGEABLE, Edit, parse_update_mask
from streambank.wire import ingest, reader, topics
from streambank.wire.generate import fact
from streambank.wire.reader import Fields, swap
from streambank.wire.settings import LONGEST_TTL, SHORTEST_TTL, check_maps, metadata, window_settings

_REVISION = frozenset({"revisionLabels", "revisionTtl", "revisionExpireTime", "disableMemoryRevisions"})
_MEMORY = CHANGEABLE | _REVISION | {"scope", "name"}
_ROLLBACK = frozenset({"targetRevisionId"})
_PURGE = frozenset({"filter", "filterGroups", "force"})
MAX_NAME_BYTES = 1_024


def created(body: Any, *, now: datetime) -> tuple[dict[str, str], Edit]:
    """Return scope and content of a memory to be made."""
    fields = reader.message(body, "", _MEMORY)
    scope = ingest.scope(*swap(fields.get("scope", ("scope", None))))
    fields.setdefault("fact", ("fact", ""))
    return scope, _edit(fields, frozenset(fields) & CHANGEABLE, now=now)


def changed(body: Any, mask: str | None, *, now: datetime) -> tuple[dict[str, str] | None, Edit]:
    """Return what a body changes: the fields of the mask, else those that it has; a scope may come along."""
    fields = reader.message(body, "", _MEMORY)
    scope = ingest.scope(*swap(fields["scope"])) if "scope" in fields else None
    named = _masked(mask) if mask else frozenset(fields) & CHANGEABLE
    if not named:
        raise InvalidArgument("updateMask", "names nothing that can change")
    return scope, _edit(fields, named, now=now)


def _masked(mask: str) -> AbstractSet[str]:
    return parse_update_mask({reader.camel(path.strip()) for path in mask.split(",") if path.strip()})


def _edit(fields: Fields, named: AbstractSet[str], *, now: datetime) -> Edit:
    """A field that the mask names and the body lacks is emptied, but for the fact, which a memory must have."""
    return Edit(
        fields=named,
        fact=fact(*swap(fields.get("fact", ("fact", "")))) if "fact" in named else "",
        display_name=_name(fields, "displayName"),
        description=_name(fields, "description"),
        topics=topics.topics(*swap(fields["topics"])) if "topics" in fields else (),
        metadata=_metadata(fields),
        expires=_expires(fields, now=now),
        settings=window_settings({name: pair for name, pair in fields.items() if name in _REVISION}),
    )


def _name(fields: Fields, name: str) -> str | None:
    return reader.text(*swap(fields[name]), most_bytes=MAX_NAME_BYTES) if name in fields else None


def _metadata(fields: Fields) -> Metadata:
    values = metadata(fields) or {}
    check_maps(fields, None, values)
    return values


def _expires(fields: Fields, *, now: datetime) -> datetime | None:
    if "ttl" in fields and "expireTime" in fields:
        raise InvalidArgument(fields["ttl"][0], "ttl and expire_time exclude each other")
    if "ttl" in fields:
        return now + reader.duration(*swap(fields["ttl"]), least=SHORTEST_TTL, most=LONGEST_TTL)
    if "expireTime" not in fields:
        return None
    path, value = fields["expireTime"]
    expires = reader.instant(value, path)
    if expires <= now:
        raise InvalidArgument(path, "must lie in the future")
    return expires


def rollback_target(body: Any, memory_id: str) -> int:
    """Return the number of the revision that a rollback names, by its id or by its whole name."""
    path, value = reader.message(body, "", _ROLLBACK).get("targetRevisionId", ("targetRevisionId", ""))
    parent, _, spelled = str(value).rpartition("/")
    if isinstance(value, bool) or not spelled.isascii() or not spelled.isdigit() or len(spelled) > 12:
        raise InvalidArgument(path, "must be the id of a revision")
    if parent and not f"/{parent}".endswith(f"/memories/{memory_id}/revisions"):
        raise InvalidArgument(path, "must be a revision of this memory")
    return int(spelled)


@dataclass(frozen=True, slots=True)
class PurgeRequest:
    """What is to go, and whether it really is."""

    filter: str
    groups: tuple[str, Any]
    force: bool


def purge_request(body: Any) -> PurgeRequest:
    """Return a purge, which must say what."""
    fields = reader.message(body, "", _PURGE)
    text = reader.text(*swap(fields.get("filter", ("filter", ""))), most_bytes=4_096)
    groups = fields.get("filterGroups", ("filterGroups", []))
    if not text.strip() and not groups[1]:
        raise InvalidArgument("filter", "filter or filterGroups is needed: a purge must say what")
    return PurgeRequest(text, groups, reader.boolean(*swap(fields.get("force", ("force", False)))))
