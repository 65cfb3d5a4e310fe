"""The vector index of a large scope: an entry for each memory, and an item that says how far the index has come.

An entry is written only if its memory still is as it was read, and deleted only if the memory is gone. So entries may
be written again, late and in any order, and none is left behind by an erasure.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import Any

from streambank.errors import Conflict
from streambank.model import ids
from streambank.model.memory import Memory
from streambank.model.scope_index import IndexState, ScopeIndex
from streambank.rules import bm25, word_vectors
from streambank.store import codec, keys, text
from streambank.store.actions import (
    Action,
    ConditionCheck,
    Delete,
    Put,
    Update,
    absent,
    absent_or_with,
    differs,
    equals,
    present,
    without,
)
from streambank.store.attributes import milliseconds, seconds
from streambank.store.citation_items import citations_of
from streambank.store.keys import Kind
from streambank.store.memory_items import memory_expiry, memory_of
from streambank.store.table import VECTOR_PARTITION, Table

# Memories of one transaction: a check and an entry each.
_BATCH = 25


@dataclass(frozen=True, slots=True)
class IndexHit:
    """A result of a search: the id of a memory, and the hashed words of the turns that it cites."""

    memory_id: str
    words: bytes


class ScopeIndexes:
    """The access patterns of `INDEX` and of the entries `Y#` and `YP#`."""

    def __init__(self, table: Table) -> None:
        self._table = table

    # ---- the index as a whole

    def get(self, bank: str, cid: str) -> ScopeIndex | None:
        """Return the index of a scope, or None if it has none."""
        item = self._table.get(keys.scope_index(bank, cid))
        return index_of(item) if item else None

    def begin(self, bank: str, scope: Mapping[str, str], *, now: datetime) -> None:
        """Start an index for a scope unless it has one, is being erased or moved, or others start one."""
        cid = ids.scope_id(scope)
        key = keys.version(bank, cid)
        item = self._table.get(key)
        if item is None:
            return
        version = item["ver"]
        index = ScopeIndex(bank, scope, IndexState.BUILDING, version, version, version, now, now, now)
        mark = Update(key, {"idx": 1}, present() & without("erasing") & without("moving"))
        put = Put(_key(index), _values(index), absent())
        try:
            self._table.transact([mark, put])
        except Conflict:
            return

    def advance(self, index: ScopeIndex, version: int, *, now: datetime) -> ScopeIndex:
        """Record that the changes up to *version* have their entries, and return the index.

        Raises:
            Conflict: others have advanced it.
        """
        after = index.advanced(version, now)
        self._table.write(Update(_key(after), _marks(after), equals(ver=index.version)))
        return after

    def record_walk(self, index: ScopeIndex, **after: Any) -> ScopeIndex:
        """Record how far a walk through the scope has come, with the new values of *index*, and return the index.

        Raises:
            Conflict: another run has recorded its own progress.
        """
        changed = replace(index, **after)
        condition = equals(st=index.state, cur=index.cursor)
        self._table.write(Update(_key(index), _walk(changed), condition))
        return changed

    def remove(self, index: ScopeIndex) -> None:
        """Delete the item of an index that has no entries left. Raises Conflict if others have recorded progress."""
        version = keys.version(index.bank, index.cid)
        gone = Delete(_key(index), equals(st=index.state, cur=index.cursor))
        self._table.transact([gone, Update(version, {"idx": None}, present())])

    # ---- entries

    def put(self, index: ScopeIndex, memories: Sequence[Memory], *, now: datetime) -> None:
        """Write the entries of *memories* that are missing or wrong; a memory that was changed since is passed over.

        Raises:
            OutOfReach: the table did not answer.
        """
        words = self._cited_words(index, memories, now)
        entries = [entry_put(index, one, words.get(one.id, b"")) for one in memories]
        stored = self._table.read(entry.key for entry in entries)
        pairs: list[list[Action]] = [
            [_unchanged(index, one), entry]
            for one, entry in zip(memories, entries, strict=True)
            if not entry.is_stored(stored.get(entry.key))
        ]
        for start in range(0, len(pairs), _BATCH):
            batch = pairs[start : start + _BATCH]
            try:
                self._table.transact([_kept(index), *(action for pair in batch for action in pair)])
            except Conflict:
                for pair in batch:
                    self._try([_kept(index), *pair])

    def remove_entries(self, index: ScopeIndex, memory_ids: Iterable[str]) -> None:
        """Delete the entries of those memories that are gone. Raises as `put` does."""
        bank, cid = index.bank, index.cid
        for one in memory_ids:
            gone = ConditionCheck(keys.memory(bank, cid, one), absent_or_with("del"))
            entries = [Delete(keys.index_entry(bank, cid, one, is_profile=is_profile)) for is_profile in (False, True)]
            self._try([gone, *entries])

    def _try(self, actions: Sequence[Action]) -> None:
        try:
            self._table.transact_despite_contention(actions)
        except Conflict:
            return  # the memory was changed meanwhile; that change has its own turn

    def _cited_words(self, index: ScopeIndex, memories: Sequence[Memory], now: datetime) -> dict[str, bytes]:
        """Return the hashed words of the turns that each of *memories* cites: one query."""
        if not memories:
            return {}
        names = sorted(one.id for one in memories)
        pk = keys.scope(index.bank, index.cid)
        between = (keys.citation_prefix(names[0]), keys.citation_prefix(names[-1]) + keys.LAST)
        cited = citations_of(self._table.query(pk, between=between), memories, now=now)
        return {
            name: word_vectors.pack_words(bm25.count_words("\n".join(one.text for one in own)))
            for name, own in cited.items()
        }

    def entries_after(self, index: ScopeIndex, after: str, count: int) -> list[keys.Key]:
        """Return the keys of the next *count* entries of a scope after the sort key *after*."""
        pk = keys.scope(index.bank, index.cid)
        between = (max(after, Kind.ENTRY.prefix), Kind.PROFILE_ENTRY.prefix + keys.LAST)
        page = map(keys.key_of, self._table.query(pk, between=between, page=count + 1))
        return list(islice((key for key in page if key.sk != after), count))

    def drop_entries(self, entries: Iterable[keys.Key]) -> None:
        """Delete entries, whatever their memories are."""
        self._table.delete_all(entries)

    # ---- reading

    def search(self, index: ScopeIndex, vector: Sequence[float], count: int) -> list[IndexHit]:
        """Return the entries nearest to *vector*, nearest first. Raises NotIndexed."""
        pk = keys.scope(index.bank, index.cid)
        items = self._table.search(pk, vector, count)
        own = (item for item in items if item["PK"] == pk)  # the index is no tenant boundary
        return [IndexHit(keys.name_in(item["SK"]), bytes(item.get("w", b""))) for item in own]

    def profile_ids(self, index: ScopeIndex) -> list[str]:
        """Return the ids of the profiles that have an entry."""
        pk = keys.scope(index.bank, index.cid)
        return [keys.name_in(item["SK"]) for item in self._table.query(pk, prefix=Kind.PROFILE_ENTRY.prefix)]

    def memories_after(self, index: ScopeIndex, after: str, count: int) -> list[Memory]:
        """Return the next *count* memories of the scope after the sort key *after*, deleted ones too, by their ids."""
        pk = keys.scope(index.bank, index.cid)
        between = (max(after, Kind.MEMORY.prefix), Kind.MEMORY.prefix + keys.LAST)
        page = (memory_of(item, dict(index.scope)) for item in self._table.query(pk, between=between, page=count + 1))
        return list(islice((one for one in page if memory_key(one) != after), count))


def memory_key(memory: Memory) -> str:
    """Return the sort key of a memory, which a walk records."""
    return f"{Kind.MEMORY.prefix}{memory.id}"


def _key(index: ScopeIndex) -> keys.Key:
    return keys.scope_index(index.bank, index.cid)


def _values(index: ScopeIndex) -> codec.Values:
    return {"sco": text.dumps(dict(index.scope)), **_marks(index), **_walk(index)}


def _marks(index: ScopeIndex) -> codec.Values:
    return {
        "ver": index.version,
        "set": index.settled,
        "pnd": index.pending,
        "pat": milliseconds(index.pending_since),
    }


def _walk(index: ScopeIndex) -> codec.Values:
    return {
        "st": index.state,
        "cur": index.cursor,
        "wat": milliseconds(index.walked),
        **codec.due_values(_key(index), index.due),
    }


def index_of(item: Mapping[str, Any]) -> ScopeIndex:
    """Return the index that an item stands for."""
    return ScopeIndex(
        bank=keys.owner(item["PK"])[0],
        scope=json.loads(item["sco"]),
        state=IndexState(item["st"]),
        version=item["ver"],
        settled=item["set"],
        pending=item["pnd"],
        pending_since=codec.instant_of(item["pat"]),
        walked=codec.instant_of(item["wat"]),
        due=codec.instant_of(item["G1SK"] * 1000),
        cursor=item["cur"],
    )


def _kept(index: ScopeIndex) -> ConditionCheck:
    """Return the check that the index is there, and is not being removed."""
    return ConditionCheck(_key(index), present() & differs(st=IndexState.DROPPING))


def _unchanged(index: ScopeIndex, memory: Memory) -> ConditionCheck:
    """Return the check that *memory* still is as it was read."""
    key = keys.memory(index.bank, index.cid, memory.id)
    vector = equals(vec=memory.vector) if memory.vector else without("vec")
    return ConditionCheck(key, equals(fact=memory.fact) & without("del") & vector)


def entry_put(index: ScopeIndex, memory: Memory, words: bytes) -> Put:
    """Return the write of a memory's entry; *words* are the hashed ones of the turns that it cites."""
    values: codec.Values = {
        VECTOR_PARTITION: keys.scope(index.bank, index.cid),
        "v": word_vectors.text_vector(bm25.count_words(memory.fact), memory.vector, words),
        "w": words or None,
        "ttl": seconds(memory_expiry(memory)),
    }
    return Put(keys.index_entry(index.bank, index.cid, memory.id, is_profile=memory.profile is not None), values)
