"""Moving what is in the partition of a scope: each item as it is stored, under the key that it has in the target.

A memory changes its scope in one transaction with its look-up. Its revisions and citations are in both scopes then: no
reader meets it without them. Tombstones, and what recognises a repeated direct call, stay in the source too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from streambank.model import ids
from streambank.model.move import Move, MovePhase
from streambank.model.review import Review
from streambank.rules.batches import batches
from streambank.rules.moves import origins_after
from streambank.store import codec, keys, text
from streambank.store.actions import Action, Delete, Put, absent, absent_or_expired, as_read, equals
from streambank.store.attributes import seconds
from streambank.store.evidence_codec import origins_of, origins_text
from streambank.store.keys import LAST, Key, Kind
from streambank.store.moves import MoveStep, copied, spelled, steps
from streambank.store.review_items import review_put
from streambank.store.table import Table

# Items whose look-ups are read in one round trip.
_TOGETHER = 25
_HASHES = ("evh", "fmr")


class MovedMemories:
    """The steps of a move through `C#`; *sids* maps the keys of the moved streams to those in the target."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def tombstones(self, move: Move, after: str, *, now: datetime) -> Iterator[MoveStep]:
        """Yield the steps that copy tombstones, and the items of direct calls."""
        return steps(self._tombstones(move, after, now))

    def revisions(self, move: Move, after: str, sids: Mapping[str, str]) -> Iterator[MoveStep]:
        """Yield the steps that copy revisions and citations, which nobody reads there before their memory is there."""
        return steps(
            _revision_step(move, item, sids) for item in self._items(move, after, Kind.REVISION, Kind.CITATION)
        )

    def memories(self, move: Move, after: str, sids: Mapping[str, str]) -> Iterator[MoveStep]:
        """Yield the steps that move memories with their look-ups."""
        return steps(self._memories(move, after, sids))

    def reviews(self, move: Move, pairs: Iterable[tuple[Review, Review]]) -> Iterator[MoveStep]:
        """Yield the steps that move reviews, given as they are and as they become; what the target has stays there."""
        return steps(self._reviews(move, pairs))

    def remains(self, move: Move, after: str) -> Iterator[MoveStep]:
        """Yield the steps that delete revisions, citations and decided reviews from the source."""
        items = self._items(move, after, Kind.REVIEW, Kind.CITATION)
        return steps(MoveStep((MovePhase.REMAINS, item["SK"]), [Delete(keys.key_of(item))], {}) for item in items)

    def _items(self, move: Move, after: str, first: Kind, last: Kind) -> Iterator[dict[str, Any]]:
        pk, ends = keys.scope(move.bank, move.cid), (after or first.prefix, last.prefix + LAST)
        return (item for item in self._table.query(pk, between=ends) if item["SK"] != after)

    def _tombstones(self, move: Move, after: str, now: datetime) -> Iterator[MoveStep]:
        live = (item for item in self._items(move, after, Kind.TOMBSTONE, Kind.CALL) if not _is_expired(item, now))
        for batch in batches(live, _TOGETHER):
            targets = {item["SK"]: _target_key(move, item["SK"]) for item in batch}
            present = self._table.read(targets.values())
            for item in batch:
                known = present.get(targets[item["SK"]])
                is_known = known is not None and not _is_expired(known, now)
                yield _tombstone_step(move, item, is_known=is_known, now=now)

    def _memories(self, move: Move, after: str, sids: Mapping[str, str]) -> Iterator[MoveStep]:
        for batch in batches(self._items(move, after, Kind.MEMORY, Kind.MEMORY), _TOGETHER):
            names = {item["SK"]: keys.memory_name(move.bank, keys.name_in(item["SK"])) for item in batch}
            owners = self._table.read(names.values())
            for item in batch:
                yield _memory_step(move, item, names[item["SK"]], owners.get(names[item["SK"]]), sids)

    def _reviews(self, move: Move, pairs: Iterable[tuple[Review, Review]]) -> Iterator[MoveStep]:
        for batch in batches(pairs, _TOGETHER):
            present = self._table.read(keys.review(move.bank, after.id) for _, after in batch)
            for before, after in batch:
                put = review_put(move.bank, after)
                deletion = Delete(keys.review(move.bank, before.id))
                yield MoveStep((MovePhase.REVIEWS,), [deletion, *([] if put.key in present else [put])], {"reviews": 1})


def _tombstone_step(move: Move, item: Mapping[str, Any], *, is_known: bool, now: datetime) -> MoveStep:
    """Return the step of a tombstone or of a direct call; what the target has already stays there as it is."""
    cursor, kind, fresh = (
        (MovePhase.TOMBSTONES, item["SK"]),
        keys.kind_of(item["SK"]),
        absent_or_expired(seconds(now) or 0),
    )
    if is_known or kind not in (Kind.TOMBSTONE, Kind.CALL):
        return MoveStep(cursor, [], {})
    is_call = kind == Kind.CALL
    values = copied(item) if is_call else {**copied(item), "org": _origins(move, item)}
    return MoveStep(cursor, [Put(_target_key(move, item["SK"]), values, fresh)], {} if is_call else {"tombstones": 1})


def _revision_step(move: Move, item: Mapping[str, Any], sids: Mapping[str, str]) -> MoveStep:
    cursor, sk = (MovePhase.REVISIONS, item["SK"]), item["SK"]
    if keys.kind_of(sk) == Kind.REVISION:
        return MoveStep(cursor, [Put(_target_key(move, sk), copied(item))], {"revisions": 1})
    if keys.kind_of(sk) != Kind.CITATION:
        return MoveStep(cursor, [], {})
    sid, window, number = keys.cited_window(sk)
    key = keys.citation(move.bank, move.target_cid, keys.name_in(sk), sids.get(sid, sid), window, number)
    return MoveStep(cursor, [Put(key, copied(item))], {"citations": 1})


def _memory_step(
    move: Move, item: Mapping[str, Any], name: Key, owner: Mapping[str, Any] | None, sids: Mapping[str, str]
) -> MoveStep:
    """Return the step of one memory; what is left of an expired one, whose id is another's by now, is only deleted."""
    cursor = (MovePhase.MEMORIES, item["SK"])
    actions: list[Action] = [Delete(keys.key_of(item), as_read(item, "rev", "upd", "vec"))]
    if owner and ids.canonical(json.loads(owner["sco"])) != ids.canonical(move.scope):
        return MoveStep(cursor, actions, {})
    key = _target_key(move, item["SK"])
    evidence = [[sids.get(sid, sid), window, seqs] for sid, window, seqs in json.loads(item.get("ev", "[]"))]
    values = {
        **copied(item),
        "ev": text.dumps(evidence) if evidence else None,
        "org": _origins(move, item) if any(one in item for one in _HASHES) else item.get("org"),
        **codec.due_values(key, codec.due_instant(item)),
    }
    look_up = {"sco": spelled(move.target), "ttl": item.get("ttl")}
    actions += [Put(key, values), Put(name, look_up, equals(sco=owner["sco"]) if owner else absent())]
    moved = () if "del" in item else (keys.name_in(item["SK"]),)
    return MoveStep(cursor, actions, {"memories": 1, "revisions": int("frev" in item)}, moved)


def _origins(move: Move, item: Mapping[str, Any]) -> str | None:
    return origins_text(origins_after(origins_of(item), ids.canonical(move.scope), ids.canonical(move.target)))


def _target_key(move: Move, sk: str) -> Key:
    return Key(keys.scope(move.bank, move.target_cid), sk)


def _is_expired(item: Mapping[str, Any], now: datetime) -> bool:
    return "ttl" in item and item["ttl"] < (seconds(now) or 0)
