"""Scopes and their memories: every write is conditional on the scope's version."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice

from streambank.errors import Conflict, IdTaken
from streambank.model import ids
from streambank.model.change_record import ChangeStamp
from streambank.model.memory import RECOVERABLE, Change, Citation, Memory, Revision
from streambank.model.plan import Completion, Slice
from streambank.model.scope_index import ScopeIndex
from streambank.model.tombstone import Tombstone
from streambank.store import codec, keys, list_index
from streambank.store.actions import Action, Update, equals, present
from streambank.store.attributes import instant, milliseconds, seconds
from streambank.store.changes import default_stamp, record_puts
from streambank.store.citation_items import citations_of
from streambank.store.keys import Kind
from streambank.store.list_index import ListEntry
from streambank.store.memory_items import all_revisions, change_actions, memory_of, revision_of
from streambank.store.review_items import delete_of_memory
from streambank.store.scope_indexes import index_of
from streambank.store.scope_versions import version_bump
from streambank.store.scope_view import ScopeView, view_of
from streambank.store.slice_items import ids_in_use, slice_actions
from streambank.store.table import Table
from streambank.store.tombstone_items import tombstone_of

MAX_TOMBSTONES = 2_000


class Memories:
    """The access patterns of `C#` and `N#`."""

    def __init__(self, table: Table) -> None:
        self._table = table

    # ---- reading

    def view_of_ids(
        self, bank: str, scope: Mapping[str, str], memory_ids: Iterable[str], *, now: datetime
    ) -> ScopeView:
        """Return some live memories of a scope; the version is read before them, never after or beside."""
        read = self.version(bank, scope)
        return replace(read, memories=tuple(self.of_ids(bank, scope, memory_ids, now=now)))

    def version(self, bank: str, scope: Mapping[str, str]) -> ScopeView:
        """Return the version of a scope, without its memories."""
        return view_of(self._table.get(keys.version(bank, ids.scope_id(scope))))

    def version_and_index(self, bank: str, scope: Mapping[str, str]) -> tuple[ScopeView, ScopeIndex | None]:
        """Return the version of a scope, without its memories, and its vector index: one round trip."""
        cid = ids.scope_id(scope)
        version, index = keys.version(bank, cid), keys.scope_index(bank, cid)
        items = self._table.read([version, index])
        return view_of(items.get(version)), index_of(items[index]) if index in items else None

    def of_scope(self, bank: str, scope: Mapping[str, str], *, now: datetime) -> list[Memory]:
        """Return the live memories of a scope: one consistent query, no filter needed to be safe (I8)."""
        return list(self.each_of_scope(bank, scope, now=now))

    def each_of_scope(self, bank: str, scope: Mapping[str, str], *, now: datetime) -> Iterator[Memory]:
        """Yield the live memories of a scope in the order of their ids, read consistently, page by page."""
        items = self._table.query(keys.scope(bank, ids.scope_id(scope)), prefix=Kind.MEMORY.prefix)
        memories = (memory_of(item, dict(scope)) for item in items)
        return (memory for memory in memories if memory.is_live(now))

    def of_ids(self, bank: str, scope: Mapping[str, str], memory_ids: Iterable[str], *, now: datetime) -> list[Memory]:
        """Return those of some memories of a scope that are live: a hundred a round trip, read consistently."""
        cid = ids.scope_id(scope)
        items = self._table.read(keys.memory(bank, cid, one) for one in memory_ids)
        memories = (memory_of(item, dict(scope)) for item in items.values())
        return [memory for memory in memories if memory.is_live(now)]

    def citations(
        self, bank: str, scope: Mapping[str, str], memories: Iterable[Memory], *, now: datetime, may_lag: bool = False
    ) -> dict[str, list[Citation]]:
        """Return the live citations of *memories* of one scope, by the memories' ids: one query.

        It *may_lag* where they only rank memories that are read consistently: one that is not seen yet moves a memory
        of the last second by some ranks. No caller reads their text then: it may be erased already.
        """
        items = self._table.query(keys.scope(bank, ids.scope_id(scope)), prefix=Kind.CITATION.prefix, may_lag=may_lag)
        return citations_of(items, memories, now=now)

    def citations_of_one(self, bank: str, memory: Memory, *, now: datetime) -> dict[str, list[Citation]]:
        """Return the live citations of one memory by its id, if it has any: one query."""
        pk = keys.scope(bank, ids.scope_id(memory.scope))
        return citations_of(self._table.query(pk, prefix=keys.citation_prefix(memory.id)), [memory], now=now)

    def tombstones(self, bank: str, scope: Mapping[str, str], *, now: datetime) -> list[Tombstone]:
        """Return the newest live tombstones of a scope, at most 2,000: one consistent query, which reads no more."""
        first, last = keys.tombstone(bank, ids.scope_id(scope), milliseconds(now) or 0, ""), Kind.TOMBSTONE.prefix
        items = self._table.query(first.pk, between=(first.sk, last + keys.LAST), backward=True, page=MAX_TOMBSTONES)
        newest = (tombstone_of(item) for item in islice(items, MAX_TOMBSTONES))
        return [one for one in newest if one.is_live(now)]

    def get(self, bank: str, scope: Mapping[str, str], memory_id: str, *, now: datetime) -> Memory | None:
        """Return a live memory of a scope, or None."""
        item = self._table.get(keys.memory(bank, ids.scope_id(scope), memory_id))
        memory = memory_of(item, dict(scope)) if item else None
        return memory if memory and memory.is_live(now) else None

    def scopes(self, bank: str) -> Iterator[dict[str, str]]:
        """Yield the scopes in which a memory was ever written."""
        for shard in range(keys.REGISTRY_SHARDS):
            for entry in self._table.query(keys.registry(bank, shard), prefix=Kind.SCOPE.prefix):
                yield json.loads(entry["sco"])

    def find(self, bank: str, memory_id: str, *, now: datetime) -> Memory | None:
        """Return a live memory by its id, or None."""
        memory = self.find_or_deleted(bank, memory_id, now=now)
        return memory if memory and memory.is_live(now) else None

    def find_or_deleted(self, bank: str, memory_id: str, *, now: datetime) -> Memory | None:
        """Return a memory that is live or was deleted within 48 hours, or None."""
        name, item, scope = self._table.get(keys.memory_name(bank, memory_id)), None, dict[str, str]()
        while name and item is None:
            read, scope = name, json.loads(name["sco"])
            item = self._table.get(keys.memory(bank, ids.scope_id(scope), memory_id))
            name = None if item else self._table.get(keys.memory_name(bank, memory_id))
            name = None if name == read else name  # else the memory was moved to another scope meanwhile
        memory = memory_of(item, scope) if item else None
        return memory if memory and (memory.is_live(now) or _is_recoverable(memory, now)) else None

    def listed(self, bank: str, count: int, after: tuple[int, str] | None) -> list[ListEntry]:
        """Return a bank's next *count* memories after the time and id *after*, newest first, from index `list`."""
        return list_index.newest(self._table, bank, Kind.MEMORY, count, after)

    def everything_listed(self, bank: str, limit: int) -> list[ListEntry]:
        """Return at most *limit* memories of a bank, in no order. Cost: one query a megabyte."""
        return list_index.everything(self._table, bank, Kind.MEMORY, limit)

    def read_listed(self, bank: str, listed: Iterable[ListEntry], *, now: datetime) -> list[Memory]:
        """Return those of *listed* that are live, read again: an index may lag."""
        pairs = [(keys.memory(bank, one.cid, one.name), keys.version(bank, one.cid)) for one in listed]
        items = self._table.read(key for pair in pairs for key in pair)
        read = ((items.get(memory), items.get(version)) for memory, version in pairs)
        memories = (memory_of(item, json.loads(scope["sco"])) for item, scope in read if item and scope)
        return [memory for memory in memories if memory.is_live(now)]

    def revisions(self, bank: str, memory: Memory, *, now: datetime) -> list[Revision]:
        """Return the live revisions of *memory*, newest first."""
        key = keys.revision(bank, ids.scope_id(memory.scope), memory.id, 0)
        items = self._table.query(key.pk, prefix=keys.revision_prefix(memory.id))
        return [one for one in reversed(all_revisions(memory, items)) if _is_of(memory, one, now)]

    def revision(self, bank: str, memory: Memory, number: int, *, now: datetime) -> Revision | None:
        """Return one live revision of *memory*, or None."""
        revision = memory.whole_revision
        if revision is None or revision.number != number:
            item = self._table.get(keys.revision(bank, ids.scope_id(memory.scope), memory.id, number))
            revision = revision_of(item) if item else None
        return revision if revision and _is_of(memory, revision, now) else None

    # ---- writing

    def commit_slice(
        self,
        bank: str,
        scope: Mapping[str, str],
        piece: Slice,
        completion: Completion | None,
        *,
        now: datetime,
        stamp: ChangeStamp | None = None,
    ) -> None:
        """Apply one slice of a plan, and end the window where *completion* is given: one transaction.

        Its record in the change feed has *stamp*.

        Raises:
            IdTaken: nothing is in the way but that other memories have ids of new ones.
            Conflict: the attempt is not current any more, or the window would end with nobody to restore the suspended
                expiry of its events, or to make the next window due (action 0), or the scope was written meanwhile
                (action 1).
            OutOfReach: the tries are used up, and the outcome is unknown.
        """
        actions = slice_actions(bank, scope, piece, completion, stamp, now)
        try:
            self._table.transact(actions)
        except Conflict as conflict:
            in_use = ids_in_use(bank, piece, actions, conflict)
            if in_use:
                raise IdTaken(conflict, in_use) from conflict
            raise

    def commit_change(
        self,
        bank: str,
        scope: Mapping[str, str],
        version: int,
        change: Change,
        *,
        now: datetime,
        stamp: ChangeStamp | None = None,
    ) -> None:
        """Apply one change under the scope's *version*. Raises Conflict and OutOfReach as `commit_slice` does."""
        self.commit_changes(bank, scope, version, [change], now=now, stamp=stamp)

    def commit_changes(
        self,
        bank: str,
        scope: Mapping[str, str],
        version: int,
        changes: Sequence[Change],
        *,
        now: datetime,
        stamp: ChangeStamp | None = None,
        beside: Sequence[Action] = (),
    ) -> None:
        """Apply changes in one step of the scope's version: 19 deletions, or others of at most 97 actions together.

        The actions *beside* them are of the same transaction. Their record in the change feed has *stamp*. Raises as
        `commit_change` does.
        """
        actions = [action for change in changes for action in change_actions(bank, change, now)]
        record = record_puts(bank, scope, version + 1, changes, stamp or default_stamp(now))
        self._table.transact([*version_bump(bank, scope, version, 1), *beside, *actions, *record])

    def shorten_revisions(self, bank: str, cid: str, memory_id: str) -> None:
        """Let the revisions of a deleted memory expire with it, and delete its citations and open reviews now.

        The memory is removed from index `due`.
        """
        key = keys.memory(bank, cid, memory_id)
        item = self._table.get(key)
        if item is None or "del" not in item:
            return
        for revision in self._table.query(key.pk, prefix=keys.revision_prefix(memory_id)):
            if revision.get("ttl", item["ttl"] + 1) > item["ttl"]:
                self._set_expiry(keys.key_of(revision), item["ttl"])
        citations = self._table.query(key.pk, prefix=keys.citation_prefix(memory_id))
        self._table.delete_all(map(keys.key_of, citations))
        delete_of_memory(self._table, key.pk, memory_id)
        self._remove_from_due(key, item["rev"])

    def lengthen_revisions(self, bank: str, cid: str, memory_id: str) -> None:
        """Restore the expiry of the revisions of a memory that was rolled back after its deletion."""
        key = keys.memory(bank, cid, memory_id)
        for revision in self._table.query(key.pk, prefix=keys.revision_prefix(memory_id)):
            if revision["fact"]:
                self._set_expiry(keys.key_of(revision), seconds(instant(revision.get("exp"))))

    def _set_expiry(self, key: keys.Key, until: int | None) -> None:
        try:
            self._table.write(Update(key, {"ttl": until}, present()))
        except Conflict:
            return  # it expired meanwhile

    def _remove_from_due(self, key: keys.Key, revision: int) -> None:
        try:
            self._table.write(Update(key, codec.due_values(key, None), equals(rev=revision)))
        except Conflict:
            return  # it was rolled back meanwhile


def _is_of(memory: Memory, revision: Revision, now: datetime) -> bool:
    """Tell whether a live revision is of *memory*, and not of an expired one that had its id before."""
    return revision.is_live(now) and revision.created >= memory.created


def _is_recoverable(memory: Memory, now: datetime) -> bool:
    return memory.deleted is not None and now < memory.deleted + RECOVERABLE
