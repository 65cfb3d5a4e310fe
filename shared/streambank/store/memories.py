"""Scopes and their memories: every writer commits under the scope's version."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import Any

from streambank.errors import Conflict
from streambank.model import ids
from streambank.model.memory import RECOVERABLE, Change, Citation, Memory, Revision
from streambank.model.plan import Completion, Slice
from streambank.model.window import WindowState
from streambank.store import codec, keys, text
from streambank.store.actions import Action, Put, Update, absent, equals, present, without
from streambank.store.attributes import instant, milliseconds, seconds
from streambank.store.memory_items import change_actions, citation_of, memory_of, revision_of
from streambank.store.plan_items import verdict_put
from streambank.store.table import Table
from streambank.store.windows import is_mine


@dataclass(frozen=True, slots=True)
class ScopeView:
    """A scope's memories as of *version*; 0 means that nothing was ever written there."""

    version: int
    erasing: bool
    memories: tuple[Memory, ...]


class Memories:
    """The access patterns of `C#` and `N#`."""

    def __init__(self, table: Table) -> None:
        self._table = table

    # ---- reading

    def view(self, bank: str, scope: Mapping[str, str], *, now: datetime) -> ScopeView:
        """Return the live memories of a scope; the version is read before them, never after or beside."""
        read = self.version(bank, scope)
        found = self._all(bank, ids.scope_id(scope), scope)
        return replace(read, memories=tuple(memory for memory in found if memory.is_live(now)))

    def version(self, bank: str, scope: Mapping[str, str]) -> ScopeView:
        """Return the version of a scope, without its memories."""
        item = self._table.get(keys.version(bank, ids.scope_id(scope))) or {"ver": 0}
        return ScopeView(item["ver"], bool(item.get("erasing")), ())

    def _all(self, bank: str, cid: str, scope: Mapping[str, str]) -> Iterator[Memory]:
        found = self._table.query(keys.scope(bank, cid), prefix="M#")
        return (memory_of(item, dict(scope)) for item in found)

    def of_scope(self, bank: str, scope: Mapping[str, str], *, now: datetime) -> list[Memory]:
        """Return the live memories of a scope: one consistent query, no filter needed to be safe (I8)."""
        return [memory for memory in self._all(bank, ids.scope_id(scope), scope) if memory.is_live(now)]

    def citations(
        self, bank: str, scope: Mapping[str, str], memories: Iterable[Memory], *, now: datetime
    ) -> dict[str, list[Citation]]:
        """Return what *memories* of one scope cite and may still be read, by their ids: one consistent query.

        The windows that a memory names as its evidence are all it cites: an id may have been another's before.
        """
        windows = {memory.id: {(found.sid, found.window) for found in memory.evidence} for memory in memories}
        cited: dict[str, list[Citation]] = {}
        for item in self._table.query(keys.scope(bank, ids.scope_id(scope)), prefix="T#"):
            memory_id, one = item["SK"].split("#")[1], citation_of(item)
            if one.is_live(now) and (one.sid, one.window) in windows.get(memory_id, ()):
                cited.setdefault(memory_id, []).append(one)
        return cited

    def get(self, bank: str, scope: Mapping[str, str], memory_id: str, *, now: datetime) -> Memory | None:
        """Return a live memory of a scope, or None."""
        item = self._table.get(keys.memory(bank, ids.scope_id(scope), memory_id))
        memory = memory_of(item, dict(scope)) if item else None
        return memory if memory and memory.is_live(now) else None

    def scopes(self, bank: str) -> Iterator[dict[str, str]]:
        """Yield the scopes that anything was ever remembered in."""
        for shard in range(keys.REGISTRY_SHARDS):
            for entry in self._table.query(keys.registry(bank, shard), prefix="C#"):
                yield json.loads(entry["sco"])

    def find(self, bank: str, memory_id: str, *, now: datetime) -> Memory | None:
        """Return a live memory by its id, or None."""
        memory = self.find_or_tombstone(bank, memory_id, now=now)
        return memory if memory and memory.is_live(now) else None

    def find_or_tombstone(self, bank: str, memory_id: str, *, now: datetime) -> Memory | None:
        """Return a memory that is live or was deleted within 48 hours, or None."""
        name = self._table.get(keys.memory_name(bank, memory_id))
        if name is None:
            return None
        scope = json.loads(name["sco"])
        item = self._table.get(keys.memory(bank, ids.scope_id(scope), memory_id))
        memory = memory_of(item, scope) if item else None
        return memory if memory and (memory.is_live(now) or _is_recoverable(memory, now)) else None

    def listed(self, bank: str, count: int, after: tuple[int, str] | None) -> list[tuple[int, str, str]]:
        """Return time, id and partition of a bank's next *count* memories, newest first as index `list` has them."""
        up_to = after[0] if after else None
        shards = (
            self._table.query_index("list", partition, up_to=up_to, backward=True, page=count + 1)
            for partition in keys.list_partitions(bank, "M")
        )
        found = ((i["G2SK"], i["SK"][2:], i["PK"]) for shard in shards for i in _capped(shard, count, after))
        return sorted(found, reverse=True)[:count]

    def everything_listed(self, bank: str, most: int) -> list[tuple[int, str, str]]:
        """Return time, id and partition of a bank's memories, *most* of them, in no order: one query a megabyte."""
        shards = (self._table.query_index("list", partition) for partition in keys.list_partitions(bank, "M"))
        found = ((i["G2SK"], i["SK"][2:], i["PK"]) for shard in shards for i in shard)
        return list(islice(found, most))

    def read_listed(self, listed: Iterable[tuple[int, str, str]], *, now: datetime) -> list[Memory]:
        """Return those of *listed* that are live, read again: an index may lag."""
        wanted = [(keys.Key(pk, f"M#{memory_id}"), keys.Key(pk, "V")) for _, memory_id, pk in listed]
        items = self._table.read(key for pair in wanted for key in pair)
        pairs = ((items.get(memory), items.get(version)) for memory, version in wanted)
        found = (memory_of(item, json.loads(scope["sco"])) for item, scope in pairs if item and scope)
        return [memory for memory in found if memory.is_live(now)]

    def revisions(self, bank: str, memory: Memory, *, now: datetime) -> list[Revision]:
        """Return the live revisions of *memory*, newest first."""
        key = keys.revision(bank, ids.scope_id(memory.scope), memory.id, 0)
        found = self._table.query(key.pk, prefix=f"R#{memory.id}#", backward=True)
        return [revision for revision in map(revision_of, found) if _is_of(memory, revision, now)]

    def revision(self, bank: str, memory: Memory, number: int, *, now: datetime) -> Revision | None:
        """Return one live revision of *memory*, or None."""
        item = self._table.get(keys.revision(bank, ids.scope_id(memory.scope), memory.id, number))
        revision = revision_of(item) if item else None
        return revision if revision and _is_of(memory, revision, now) else None

    # ---- writing

    def commit_slice(
        self, bank: str, scope: Mapping[str, str], piece: Slice, completion: Completion | None, *, now: datetime
    ) -> None:
        """Apply one slice of a plan, and end the window where *completion* is given: one transaction.

        Raises:
            Conflict: the window is no longer this attempt's, or is held and nobody would release it (action 0), or
                the scope has changed (action 1).
            OutOfReach: the tries are used up and nobody knows.
        """
        attempt = piece.attempt
        window_key = keys.window(bank, attempt.sid, attempt.window)
        guard = is_mine(attempt.attempt) & equals(cur=piece.start)
        if completion and not completion.release:
            guard &= without("held")
        actions: list[Action] = [Update(window_key, _progress(piece, completion, window_key), guard)]
        if piece.end > piece.start:
            actions += version_bump(bank, scope, piece.version, piece.end - piece.start)
        actions += [verdict_put(attempt, recorded, piece.expires) for recorded in piece.verdicts]
        if piece.change:
            actions += change_actions(bank, piece.change, now)
        self._table.transact(actions)

    def commit_change(
        self, bank: str, scope: Mapping[str, str], version: int, change: Change, *, now: datetime
    ) -> None:
        """Apply one change under the scope's *version*. Raises Conflict and OutOfReach as `commit_slice` does."""
        self.commit_changes(bank, scope, version, [change], now=now)

    def commit_changes(
        self, bank: str, scope: Mapping[str, str], version: int, changes: Iterable[Change], *, now: datetime
    ) -> None:
        """Apply at most thirty changes together, as one step of the scope's version. Raises as `commit_change`."""
        actions = [action for change in changes for action in change_actions(bank, change, now)]
        self._table.transact([*version_bump(bank, scope, version, 1), *actions])

    def shorten_revisions(self, bank: str, cid: str, memory_id: str) -> None:
        """Let the revisions of a deleted memory go with its tombstone, what it cited at once; `due` forgets it."""
        key = keys.memory(bank, cid, memory_id)
        item = self._table.get(key)
        if item is None or "del" not in item:
            return
        for found in self._table.query(key.pk, prefix=f"R#{memory_id}#"):
            if found.get("ttl", item["ttl"] + 1) > item["ttl"]:
                self._set_expiry(keys.Key(found["PK"], found["SK"]), item["ttl"])
        cited = self._table.query(key.pk, prefix=f"T#{memory_id}#")
        self._table.delete_all(keys.Key(found["PK"], found["SK"]) for found in cited)
        self._settle(key, item["rev"])

    def lengthen_revisions(self, bank: str, cid: str, memory_id: str) -> None:
        """Give the revisions of a memory that came back the expiry that they were made with."""
        key = keys.memory(bank, cid, memory_id)
        for found in self._table.query(key.pk, prefix=f"R#{memory_id}#"):
            if found["fact"]:
                self._set_expiry(keys.Key(found["PK"], found["SK"]), seconds(instant(found.get("exp"))))

    def _set_expiry(self, key: keys.Key, until: int | None) -> None:
        try:
            self._table.write(Update(key, {"ttl": until}, present()))
        except Conflict:
            return  # it expired meanwhile

    def _settle(self, key: keys.Key, revision: int) -> None:
        try:
            self._table.write(Update(key, codec.due_values(key, None), equals(rev=revision)))
        except Conflict:
            return  # it came back meanwhile: a rollback


def version_bump(bank: str, scope: Mapping[str, str], version: int, by: int) -> list[Action]:
    """Return the writes that every change of a scope begins with: its *version* must still be what was read."""
    key = keys.version(bank, ids.scope_id(scope))
    if version:
        return [Update(key, {"ver": version + by}, equals(ver=version))]
    spelled = text.dumps(dict(scope))
    entry = keys.registered_scope(bank, ids.scope_id(scope))
    return [Put(key, {"ver": by, "sco": spelled}, absent()), Put(entry, {"sco": spelled})]


def _capped(items: Iterator[dict[str, Any]], count: int, after: tuple[int, str] | None) -> Iterator[dict[str, Any]]:
    """Return the first *count* of *items*, which are newest first, that come after *after*."""
    rest = (item for item in items if after is None or (item["G2SK"], item["SK"][2:]) < after)
    return islice(rest, count)


def _is_of(memory: Memory, revision: Revision, now: datetime) -> bool:
    """A memory that expired may have left revisions under an id that is another's now."""
    return revision.is_live(now) and revision.created >= memory.created


def _is_recoverable(memory: Memory, now: datetime) -> bool:
    return memory.deleted is not None and now < memory.deleted + RECOVERABLE


def _progress(piece: Slice, completion: Completion | None, key: keys.Key) -> codec.Values:
    if completion is None:
        return {"cur": piece.end}
    return {
        "cur": piece.end,
        "st": WindowState.DONE,
        "end": milliseconds(completion.ended),
        "out": text.dumps(completion.outcome),
        "ttl": seconds(completion.expires),
        "fail": None,
        **codec.due_values(key, completion.release),
    }
