"""Reindexes: their jobs, the memories that they read, and the vectors that they write.

A run records its progress under its own number, as the runs of exports and imports do. A vector is not text: no plan
depends on it, so a scope's version stays. Only the vector of a memory is written, and only while the memory has the
text and the vector that were read.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from streambank.errors import Conflict
from streambank.model import ids
from streambank.model.memory import Memory
from streambank.model.reindex import Reindex, ReindexCursor
from streambank.store import codec, keys, text
from streambank.store.actions import Condition, Put, Update, absent, equals, without
from streambank.store.attributes import instant, milliseconds
from streambank.store.keys import LAST, Key, Kind
from streambank.store.memory_items import memory_of
from streambank.store.table import Table

# When the sweep resumes a job that has recorded no progress since.
RESUMED_AFTER = timedelta(minutes=1)


class Reindexes:
    """The access patterns of `REINDEX`."""

    def __init__(self, table: Table) -> None:
        self._table = table

    # ---- jobs

    def find(self, bank: str) -> Reindex | None:
        """Return the newest job of a bank, or None if there never was one."""
        item = self._table.get(_key(bank))
        return _reindex(bank, item) if item else None

    def begin(self, bank: str, *, now: datetime) -> Reindex:
        """Start a job and return it, or the one under way. Raises Conflict if another job was started meanwhile."""
        key = _key(bank)
        item = self._table.get(key)
        if item and "open" in item:
            return _reindex(bank, item)
        reindex = Reindex(bank, (item or {}).get("num", 0) + 1, now)
        values: codec.Values = {
            "num": reindex.number,
            "open": reindex.number,
            "beg": milliseconds(now),
            "run": reindex.run,
            **_progress(reindex),
            **codec.due_values(key, now + RESUMED_AFTER),
        }
        self._table.write(Put(key, values, equals(num=item["num"]) if item else absent()))
        return reindex

    def claim(self, reindex: Reindex, *, now: datetime) -> Reindex:
        """Start a new run of a job and return the job. Raises Conflict if another run was started, or it has ended."""
        key = _key(reindex.bank)
        values = {"run": reindex.run + 1, **codec.due_values(key, now + RESUMED_AFTER)}
        self._table.write(Update(key, values, _is_current_run(reindex)))
        return replace(reindex, run=reindex.run + 1)

    def record_progress(
        self, reindex: Reindex, cursor: ReindexCursor | None, counts: Mapping[str, int], *, now: datetime
    ) -> Reindex:
        """Record how far a job has come and return it. Raises Conflict if another run was started, or it has ended."""
        key = _key(reindex.bank)
        after = replace(reindex, cursor=cursor, counts=dict(Counter(reindex.counts) + Counter(counts)))
        values = {**_progress(after), **codec.due_values(key, now + RESUMED_AFTER)}
        self._table.write(Update(key, values, _is_current_run(reindex)))
        return after

    def finish(self, reindex: Reindex, failure: str | None = None, *, now: datetime) -> Reindex:
        """End a job, with the reason in *failure* where it failed. Raises as `record_progress` does."""
        key = _key(reindex.bank)
        values = {"open": None, "end": milliseconds(now), "fail": failure, **codec.due_values(key, None)}
        self._table.write(Update(key, values, _is_current_run(reindex)))
        return replace(reindex, ended=now, failure=failure)

    # ---- memories

    def memories(
        self, bank: str, after: ReindexCursor | None, *, now: datetime
    ) -> Iterator[tuple[ReindexCursor, Memory | None]]:
        """Yield the live memories behind *after*, and None at the end of each scope, even an empty one.

        A scope that is being erased is left out. Each comes with the cursor behind it.
        """
        for shard in range(after[0] if after else 0, keys.REGISTRY_SHARDS):
            first = after[1] if after and after[0] == shard else Kind.SCOPE.prefix
            for item in self._table.query(keys.registry(bank, shard), between=(first, Kind.SCOPE.prefix + LAST)):
                entry = item["SK"]
                start = after[2] if after and after[:2] == (shard, entry) else ""
                if start != LAST:
                    for memory in self._of_scope(bank, keys.registry_entry(entry).name, start, now):
                        yield (shard, entry, memory.id), memory
                    yield (shard, entry, LAST), None

    def _of_scope(self, bank: str, cid: str, after: str, now: datetime) -> Iterator[Memory]:
        version = self._table.get(keys.version(bank, cid))
        if version is None or version.get("erasing"):
            return
        scope, prefix = json.loads(version["sco"]), Kind.MEMORY.prefix
        for item in self._table.query(keys.scope(bank, cid), between=(prefix + after, prefix + LAST)):
            memory = memory_of(item, dict(scope))
            if memory.id != after and memory.is_live(now):
                yield memory

    def write_vector(self, bank: str, memory: Memory, vector: bytes) -> bool:
        """Give *memory* another vector; tell whether it still had the text and the vector that were read.

        Raises:
            OutOfReach: the table did not answer.
        """
        key = keys.memory(bank, ids.scope_id(memory.scope), memory.id)
        has_vector = equals(vec=memory.vector) if memory.vector else without("vec")
        condition = equals(fact=memory.fact) & without("del") & has_vector
        try:
            self._table.write(Update(key, {"vec": vector}, condition))
        except Conflict:
            return False
        return True


def _key(bank: str) -> Key:
    return keys.bank_job(bank, Kind.REINDEX)


def _is_current_run(reindex: Reindex) -> Condition:
    return equals(open=reindex.number, run=reindex.run)


def _progress(reindex: Reindex) -> codec.Values:
    cursor = list(reindex.cursor) if reindex.cursor else []
    return {"cur": text.dumps(cursor), "man": text.dumps(dict(reindex.counts))}


def _reindex(bank: str, item: Mapping[str, Any]) -> Reindex:
    cursor = json.loads(item["cur"])
    return Reindex(
        bank,
        item["num"],
        codec.instant_of(item["beg"]),
        run=item["run"],
        cursor=(cursor[0], cursor[1], cursor[2]) if cursor else None,
        counts=json.loads(item["man"]),
        ended=instant(item.get("end")),
        failure=item.get("fail"),
    )
