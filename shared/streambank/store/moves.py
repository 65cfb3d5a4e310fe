"""Moves: their jobs, and the steps in which they write.

A move's own item says how far it has come. Every step writes that first, on condition that it is as it was read: of two
runs one has a Conflict, and nothing is moved twice. The version items of both scopes name the move, and until it ends
no other writer of memories commits there.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from streambank.errors import Unavailable
from streambank.model import ids
from streambank.model.change_record import ChangedMemory, ChangeKind, ChangeRecord
from streambank.model.move import Move, MoveCursor
from streambank.model.plan import ForgetRequest
from streambank.store import codec, keys, text
from streambank.store.actions import Action, Condition, ConditionCheck, Put, Update, absent, equals, together, without
from streambank.store.attributes import instant, milliseconds, seconds
from streambank.store.changes import default_stamp, record_put
from streambank.store.keys import Key, Kind
from streambank.store.memory_items import requests_values
from streambank.store.table import Table

# When the sweep resumes a move that no call works on any more.
RESUMED_AFTER = timedelta(minutes=1)
# How long the operation of a move that has ended can be read.
KEPT = timedelta(days=90)
# Jobs of a bank that read or rewrite its scopes one after the other: none is under way when a move begins.
EXCLUDED = (Kind.EXPORT, Kind.IMPORT, Kind.POLICY)
_INDEXED = ("PK", "SK", "G1PK", "G1SK")


@dataclass(frozen=True, slots=True)
class MoveStep:
    """Writes of a move that belong together, the cursor behind them, and what they move.

    *memories* are the ids of the live memories that change their scope.
    """

    cursor: MoveCursor
    actions: Sequence[Action]
    counts: Mapping[str, int]
    memories: Sequence[str] = ()


class Moves:
    """The access patterns of `MOVE`, and of what it says in `V`."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def begin(self, bank: str, scope: Mapping[str, str], target: Mapping[str, str], *, now: datetime) -> Move:
        """Start a move and return it, or the one of this scope that is under way.

        Raises:
            Conflict: a scope was written meanwhile, or a job was started that a move waits for.
            Unavailable: one of the scopes is being erased, or takes part in another move.
        """
        source_key, target_key = (keys.version(bank, ids.scope_id(one)) for one in (scope, target))
        items = self._table.read([source_key, target_key])
        source, into = items.get(source_key, {}), items.get(target_key, {})
        under_way = self._of_source(bank, ids.scope_id(scope), source)
        if under_way:
            return under_way
        if any("erasing" in item or "moving" in item for item in (source, into)):
            raise Unavailable("one of the scopes is being erased or moved; try again")
        move = Move(bank, ids.scope_id(scope), source.get("mno", 0) + 1, now, dict(scope), dict(target))
        consent = codec.consent_of(into).joined(codec.consent_of(source))
        learning: codec.Values = {"lrn": codec.consent_text(consent)} if consent.pauses else {}
        actions: list[Action] = [
            *_fence(bank, move.scope, source, {"moving": move.id, "mno": move.number}),
            *_fence(bank, move.target, into, {"moving": move.id, **learning}),
            Put(_key(move), {**_job_values(move, now), "beg": milliseconds(now)}, absent()),
        ]
        jobs = (keys.bank_job(bank, kind) for kind in EXCLUDED)
        self._table.transact([*actions, *(ConditionCheck(key, without("open")) for key in jobs)])
        return move

    def job_under_way(self, bank: str) -> str | None:
        """Return the kind of a job that a move waits for, or None."""
        items = self._table.read(keys.bank_job(bank, kind) for kind in EXCLUDED)
        return next((keys.kind_of(key.sk) for key, item in items.items() if "open" in item), None)

    def _of_source(self, bank: str, cid: str, version: Mapping[str, Any]) -> Move | None:
        """Return the move that is under way from a scope; None if there is none, or one that moves something there."""
        move = self.find(bank, cid, version["mno"]) if "moving" in version and "mno" in version else None
        return move if move and move.id == version["moving"] else None

    def find(self, bank: str, cid: str, number: int) -> Move | None:
        """Return a move of a scope, or None."""
        item = self._table.get(keys.move(bank, cid, number))
        if item is None:
            return None
        scope, target = json.loads(item["ask"])
        return Move(
            bank,
            cid,
            number,
            codec.instant_of(item["beg"]),
            scope,
            target,
            tuple(json.loads(item["cur"])),
            json.loads(item["man"]),
            instant(item.get("end")),
        )

    def write(self, move: Move, step: MoveStep, *, now: datetime) -> Move:
        """Carry out a step and return the move as it is then: one transaction.

        Raises:
            Conflict: another run has come further, or something that is moved was written meanwhile; read again.
        """
        after = move.advanced(step.cursor, step.counts)
        changed = self._changes(move, step.memories, now) if step.memories else []
        self._table.transact([Update(_key(move), _job_values(after, now), _is_at(move)), *changed, *step.actions])
        return after

    def _changes(self, move: Move, memories: Sequence[str], now: datetime) -> Iterator[Action]:
        """Yield the writes of the change records of both scopes, and of the versions that they are numbered by."""
        kinds = {move.cid: ChangeKind.MOVED_AWAY, move.target_cid: ChangeKind.MOVED}
        items = self._table.read(keys.version(move.bank, cid) for cid in kinds)
        for cid, kind in kinds.items():
            key = keys.version(move.bank, cid)
            version = items.get(key, {}).get("ver", 0)
            changed_memories = tuple(ChangedMemory(kind, name) for name in memories)
            yield Update(key, {"ver": version + 1}, equals(moving=move.id, ver=version))
            yield record_put(move.bank, ChangeRecord(cid, version + 1, default_stamp(now), changed_memories))

    def finish(self, move: Move, requests: Sequence[ForgetRequest], *, now: datetime) -> None:
        """End a move, and let both scopes be written again: the target has the *requests* to forget of both.

        Raises:
            Conflict: another run has ended it.
        """
        bank, cids = move.bank, (move.cid, move.target_cid)
        versions = [keys.version(bank, cid) for cid in cids]
        items = self._table.read(versions)
        ended: codec.Values = {
            "end": milliseconds(now),
            "ttl": seconds(now + KEPT),
            **codec.due_values(_key(move), None),
        }
        actions: list[Action] = [Update(_key(move), {"open": None, **ended}, _is_at(move))]
        for key, values in zip(versions, (requests_values(()), requests_values(requests)), strict=True):
            version = items.get(key, {}).get("ver", 0)
            opened: codec.Values = {**values, "moving": None, "ver": version + 1}
            actions.append(Update(key, opened, equals(moving=move.id, ver=version)))
        self._table.transact(actions)


def steps(parts: Iterable[MoveStep]) -> Iterator[MoveStep]:
    """Yield *parts* in order, as many together as one transaction takes."""
    for run in together(parts, lambda part: part.actions):
        counts = sum((Counter(part.counts) for part in run), Counter[str]())
        memories = [one for part in run for one in part.memories]
        yield MoveStep(run[-1].cursor, [action for part in run for action in part.actions], counts, memories)


def copied(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of *item* for another key: all but its keys in the table and in index `due`."""
    return {name: value for name, value in item.items() if name not in _INDEXED}


def spelled(scope: Mapping[str, str]) -> str:
    return text.dumps(dict(scope))


def _key(move: Move) -> Key:
    return keys.move(move.bank, move.cid, move.number)


def _is_at(move: Move) -> Condition:
    return equals(open=1, cur=text.dumps(list(move.cursor)))


def _job_values(move: Move, now: datetime) -> codec.Values:
    return {
        "open": 1,
        "ask": text.dumps([move.scope, move.target]),
        "cur": text.dumps(list(move.cursor)),
        "man": text.dumps(dict(move.counts)),
        **codec.due_values(_key(move), now + RESUMED_AFTER),
    }


def _fence(bank: str, scope: Mapping[str, str], item: Mapping[str, Any], values: codec.Values) -> list[Action]:
    """Close a scope to all other writers, and register it if nothing was ever written there."""
    key = keys.version(bank, ids.scope_id(scope))
    if item:
        return [Update(key, {**values, "ver": item["ver"] + 1}, equals(ver=item["ver"]))]
    entry = Put(keys.registered_scope(bank, ids.scope_id(scope)), {"sco": spelled(scope)})
    return [Put(key, {**values, "ver": 1, "sco": spelled(scope)}, absent()), entry]
