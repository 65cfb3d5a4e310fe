"""Memories and revisions as items."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from streambank.model import ids
from streambank.model.event import CallMarker
from streambank.model.memory import RECOVERABLE, Change, Memory, Profile, Revision
from streambank.model.plan import ForgetRequest
from streambank.model.tombstone import TOMBSTONE_TTL
from streambank.store import codec, history_items, keys, text
from streambank.store.actions import Action, Condition, Delete, Put, absent_or_expired, equals, written_bytes
from streambank.store.attributes import instant, milliseconds, seconds
from streambank.store.citation_items import citation_values
from streambank.store.evidence_codec import (
    evidence_of,
    evidence_values,
    origins_of,
    origins_text,
    packed_hashes,
    unpacked_hashes,
)
from streambank.store.keys import Kind
from streambank.store.tombstone_items import tombstone_put


def change_actions(bank: str, change: Change, now: datetime) -> list[Action]:
    """Return the writes of one change: memory, id look-up, two revisions at most, citation or tombstone."""
    memory = change.after
    cid = ids.scope_id(memory.scope)
    name = keys.memory_name(bank, memory.id)
    until = memory_expiry(memory)
    fresh = absent_or_expired(seconds(now) or 0) if change.before is None else None
    actions: list[Action] = [
        Put(keys.memory(bank, cid, memory.id), memory_values(bank, memory), _has_vector_as_read(change)),
        Put(name, {"sco": text.dumps(memory.scope), "ttl": seconds(until)}, fresh),
    ]
    actions += [
        Put(keys.revision(bank, cid, memory.id, one.number), revision_values(one))
        for one in change.stored_revisions(now)
    ]
    if change.citation:
        citation = change.citation
        key = keys.citation(bank, cid, memory.id, citation.sid, citation.window, citation.number)
        actions.append(Put(key, citation_values(citation)))
    if change.tombstone:
        actions.append(tombstone_put(bank, cid, change.tombstone))
    elif change.before and change.before.deleted and memory.deleted is None:
        expires = change.before.deleted + TOMBSTONE_TTL
        actions.append(Delete(keys.tombstone(bank, cid, milliseconds(expires) or 0, memory.id)))
    return actions


def _has_vector_as_read(change: Change) -> Condition | None:
    """Return the condition of a change that keeps the vector: a reindex, which moves no version, is not undone."""
    before, after = change.before, change.after
    is_kept = before is not None and after.deleted is None and after.vector == before.vector
    return equals(vec=after.vector) if is_kept and after.vector else None


def change_bytes(bank: str, change: Change, now: datetime) -> int:
    """Return about how many bytes the writes of *change* have."""
    return written_bytes(change_actions(bank, change, now))


def memory_expiry(memory: Memory) -> datetime | None:
    """Return when *memory* expires; a deleted one does after 48 hours."""
    return memory.deleted + RECOVERABLE if memory.deleted else memory.expires


def memory_values(bank: str, memory: Memory) -> codec.Values:
    """Return the attributes of a memory; `upd` and `asof` only where they are other times than `at`."""
    key = keys.memory(bank, ids.scope_id(memory.scope), memory.id)
    is_live, at = memory.deleted is None, milliseconds(memory.created)
    updated, as_of = milliseconds(memory.updated), milliseconds(memory.as_of)
    return {
        "fact": memory.fact,
        "at": at,
        "upd": updated if updated != at else None,
        "asof": as_of if as_of != at else None,
        "rev": memory.revision,
        "top": text.dumps(list(memory.topics)) if memory.topics else None,
        "meta": text.dumps(text.metadata_text(memory.metadata)) if memory.metadata else None,
        "vec": memory.vector or None,
        "exp": milliseconds(memory.expires),
        "name": memory.display_name,
        "desc": memory.description,
        **evidence_values(memory.evidence),
        "fmr": packed_hashes(memory.former) or None,
        "org": origins_text(memory.origins),
        "del": milliseconds(memory.deleted),
        "prof": _profile_text(memory.profile) if memory.profile else None,
        **_own_revision_values(memory.own_revision),
        **history_items.memory_values(memory),
        "pin": int(memory.pinned) or None,
        "call": f"{memory.call.key} {memory.call.fingerprint.hex()}" if memory.call else None,
        "ttl": seconds(memory_expiry(memory)),
        "G2PK": keys.list_partition(bank, Kind.MEMORY, memory.id) if is_live else None,
        "G2SK": at if is_live else None,
        **codec.due_values(key, memory.deleted),
    }


def memory_of(item: Mapping[str, Any], scope: dict[str, str]) -> Memory:
    memory = Memory(
        id=keys.name_in(item["SK"]),
        fact=item["fact"],
        scope=scope,
        created=codec.instant_of(item["at"]),
        updated=codec.instant_of(item.get("upd", item["at"])),
        as_of=codec.instant_of(item.get("asof", item["at"])),
        revision=item["rev"],
        topics=tuple(json.loads(item.get("top", "[]"))),
        metadata=text.metadata_value(json.loads(item.get("meta", "{}"))) or {},
        vector=bytes(item.get("vec", b"")),
        expires=instant(item.get("exp")),
        display_name=item.get("name"),
        description=item.get("desc"),
        evidence=tuple(evidence_of(item)),
        deleted=instant(item.get("del")),
        profile=_profile_of(item["prof"]) if "prof" in item else None,
        former=unpacked_hashes(item.get("fmr", b"")),
        origins=origins_of(item),
        call=_call_of(item["call"]) if "call" in item else None,
        pinned="pin" in item,
        validity=history_items.validity_of(item),
        statements=history_items.statements_of(item),
        whole_since=instant(item.get("whole")),
        hidden=item.get("hid", 0),
    )
    return _with_own_revision(memory, item) if "frev" in item else memory


def _call_of(written: str) -> CallMarker:
    key, _, fingerprint = written.partition(" ")
    return CallMarker(key, bytes.fromhex(fingerprint))


def _profile_text(profile: Profile) -> str:
    return text.dumps([profile.schema, {name: milliseconds(time) for name, time in profile.times.items()}])


def _profile_of(stored: str) -> Profile:
    schema, times = json.loads(stored)
    return Profile(schema, {name: codec.instant_of(time) for name, time in times.items()})


def _own_revision_values(revision: Revision | None) -> codec.Values:
    """Return what the memory itself does not say of its own revision; None stands for the memory's own text.

    An earlier release reads `frev` alone, as the first revision, which was made with the memory.
    """
    if revision is None:
        return {}
    extracted = [None if one == revision.fact else one for one in revision.extracted]
    made = [revision.number, milliseconds(revision.created), int(revision.is_correction)]
    fields = [milliseconds(revision.expires), revision.labels, extracted]
    return {"frev": text.dumps(fields), "own": text.dumps(made)}


def _with_own_revision(memory: Memory, item: Mapping[str, Any]) -> Memory:
    """Return *memory* with its own revision; one of an earlier release is its first, made with the memory."""
    expires, labels, extracted = json.loads(item["frev"])
    first: list[Any] = [memory.revision, milliseconds(memory.created), 0]
    number, created, is_correction = json.loads(item["own"]) if "own" in item else first
    own = Revision(
        memory.id,
        number,
        memory.fact,
        codec.instant_of(created),
        instant(expires),
        labels,
        tuple(memory.fact if one is None else one for one in extracted),
        memory.profile is not None,
        is_correction=bool(is_correction),
    )
    statements = memory.statements or history_items.known_statements(memory, own.created)
    return replace(memory, own_revision=own, statements=statements)


def all_revisions(memory: Memory, items: Iterable[Mapping[str, Any]]) -> list[Revision]:
    """Return the revisions in *items* and the one that *memory* itself is, oldest first."""
    own = [memory.whole_revision] if memory.whole_revision else []
    numbered = {one.number: one for one in [*map(revision_of, items), *own]}
    return [numbered[number] for number in sorted(numbered)]


def revision_values(revision: Revision) -> codec.Values:
    return {
        "n": revision.number,
        "fact": revision.fact,
        "at": milliseconds(revision.created),
        "ttl": seconds(revision.expires),
        "exp": milliseconds(revision.expires),
        "lab": text.dumps(revision.labels) if revision.labels else None,
        "prof": int(revision.is_profile) or None,
        "ext": text.dumps(list(revision.extracted)) if revision.extracted else None,
        **history_items.revision_values(revision),
    }


def revision_of(item: Mapping[str, Any]) -> Revision:
    return Revision(
        memory_id=keys.name_in(item["SK"]),
        number=item["n"],
        fact=item["fact"],
        created=codec.instant_of(item["at"]),
        expires=_earlier(instant(item.get("exp")), instant(item["ttl"] * 1000) if "ttl" in item else None),
        labels=json.loads(item.get("lab", "{}")),
        extracted=tuple(json.loads(item.get("ext", "[]"))),
        is_profile=bool(item.get("prof")),
        validity=history_items.validity_of(item),
        statements=history_items.statements_of(item),
        is_correction="corr" in item,
        is_late="late" in item,
        vector=bytes(item.get("vec", b"")),
    )


def _earlier(first: datetime | None, second: datetime | None) -> datetime | None:
    return min((time for time in (first, second) if time is not None), default=None)


def requests_values(requests: Sequence[ForgetRequest]) -> codec.Values:
    """Return the attribute of a scope's version item that holds its requests to forget."""
    rows = [
        [one.sid, one.window, one.number, one.text, milliseconds(one.at), milliseconds(one.expires)] for one in requests
    ]
    return {"fgt": text.compressed(rows) if rows else None}


def requests_of(item: Mapping[str, Any]) -> tuple[ForgetRequest, ...]:
    rows = text.decompressed(item["fgt"]) if "fgt" in item else []
    return tuple(
        ForgetRequest(sid, window, number, request, codec.instant_of(at), codec.instant_of(expires))
        for sid, window, number, request, at, expires in rows
    )
