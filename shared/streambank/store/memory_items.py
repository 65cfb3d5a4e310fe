"""Memories and revisions as items."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from streambank.model import ids
from streambank.model.memory import RECOVERABLE, Change, Citation, Evidence, Memory, Profile, Revision
from streambank.model.plan import ForgetRequest
from streambank.store import codec, keys, text
from streambank.store.actions import Action, Put, absent_or_expired, written_bytes
from streambank.store.attributes import instant, milliseconds, seconds
from streambank.store.keys import Kind


def change_actions(bank: str, change: Change, now: datetime) -> list[Action]:
    """Return the writes of one change: memory, id look-up, at most two revisions, citation."""
    memory = change.after
    cid = ids.scope_id(memory.scope)
    name = keys.memory_name(bank, memory.id)
    until = memory_expiry(memory)
    fresh = absent_or_expired(seconds(now) or 0) if change.before is None else None
    actions: list[Action] = [
        Put(keys.memory(bank, cid, memory.id), memory_values(bank, memory)),
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
    return actions


def change_bytes(bank: str, change: Change, now: datetime) -> int:
    """Return about how many bytes the writes of *change* have."""
    return written_bytes(change_actions(bank, change, now))


def memory_expiry(memory: Memory) -> datetime | None:
    """Return when *memory* expires; a tombstone does after 48 hours."""
    return memory.deleted + RECOVERABLE if memory.deleted else memory.expires


def memory_values(bank: str, memory: Memory) -> codec.Values:
    key = keys.memory(bank, ids.scope_id(memory.scope), memory.id)
    is_live = memory.deleted is None
    evidence = [[one.sid, one.window, list(one.seqs)] for one in memory.evidence]
    return {
        "fact": memory.fact,
        "at": milliseconds(memory.created),
        "upd": milliseconds(memory.updated),
        "asof": milliseconds(memory.as_of),
        "rev": memory.revision,
        "top": text.dumps(list(memory.topics)) if memory.topics else None,
        "meta": text.dumps(text.metadata_text(memory.metadata)) if memory.metadata else None,
        "vec": memory.vector or None,
        "exp": milliseconds(memory.expires),
        "name": memory.display_name,
        "desc": memory.description,
        "ev": text.dumps(evidence) if evidence else None,
        "del": milliseconds(memory.deleted),
        "prof": _profile_text(memory.profile) if memory.profile else None,
        "frev": _first_revision_text(memory.first_revision) if memory.first_revision else None,
        "ttl": seconds(memory_expiry(memory)),
        "G2PK": keys.list_partition(bank, Kind.MEMORY, memory.id) if is_live else None,
        "G2SK": milliseconds(memory.created) if is_live else None,
        **codec.due_values(key, memory.deleted),
    }


def memory_of(item: Mapping[str, Any], scope: dict[str, str]) -> Memory:
    memory = Memory(
        id=keys.name_in(item["SK"]),
        fact=item["fact"],
        scope=scope,
        created=codec.instant_of(item["at"]),
        updated=codec.instant_of(item["upd"]),
        as_of=codec.instant_of(item["asof"]),
        revision=item["rev"],
        topics=tuple(json.loads(item.get("top", "[]"))),
        metadata=text.metadata_value(json.loads(item.get("meta", "{}"))) or {},
        vector=bytes(item.get("vec", b"")),
        expires=instant(item.get("exp")),
        display_name=item.get("name"),
        description=item.get("desc"),
        evidence=tuple(Evidence(sid, win, tuple(seqs)) for sid, win, seqs in json.loads(item.get("ev", "[]"))),
        deleted=instant(item.get("del")),
        profile=_profile_of(item["prof"]) if "prof" in item else None,
    )
    return replace(memory, first_revision=_first_revision_of(item["frev"], memory)) if "frev" in item else memory


def _profile_text(profile: Profile) -> str:
    return text.dumps([profile.schema, {name: milliseconds(time) for name, time in profile.times.items()}])


def _profile_of(stored: str) -> Profile:
    schema, times = json.loads(stored)
    return Profile(schema, {name: codec.instant_of(time) for name, time in times.items()})


def _first_revision_text(revision: Revision) -> str:
    """Return what the memory itself does not say of its first revision; None stands for the memory's own text."""
    extracted = [None if one == revision.fact else one for one in revision.extracted]
    return text.dumps([milliseconds(revision.expires), revision.labels, extracted])


def _first_revision_of(stored: str, memory: Memory) -> Revision:
    expires, labels, extracted = json.loads(stored)
    return Revision(
        memory.id,
        memory.revision,
        memory.fact,
        memory.created,
        instant(expires),
        labels,
        tuple(memory.fact if one is None else one for one in extracted),
        memory.profile is not None,
    )


def all_revisions(memory: Memory, items: Iterable[Mapping[str, Any]]) -> list[Revision]:
    """Return the revisions in *items* and the one that *memory* itself is, oldest first."""
    first = [memory.first_revision] if memory.first_revision else []
    numbered = {one.number: one for one in [*map(revision_of, items), *first]}
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
    )


def citation_values(citation: Citation) -> codec.Values:
    return {"d": text.compressed(citation.text), "ttl": seconds(citation.expires)}


def citation_of(item: Mapping[str, Any]) -> Citation:
    expires = codec.instant_of(item["ttl"] * 1000)
    return Citation(*keys.cited_window(item["SK"]), text.decompressed(item["d"]), expires)


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
