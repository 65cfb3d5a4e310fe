"""Reindexes: their jobs, the memories that they read, and the vectors that they write.

A vector is not text: no plan depends on it, so a scope's version stays. Only the vector of a memory is written, and
only while the memory has the text and the vector that were read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime

from streambank.errors import Conflict
from streambank.model import ids
from streambank.model.memory import Memory
from streambank.model.reindex import Reindex, ReindexCursor
from streambank.store import keys
from streambank.store.actions import Update, equals, without
from streambank.store.bank_walks import BankWalks
from streambank.store.keys import LAST, Kind
from streambank.store.memory_items import memory_of
from streambank.store.table import Table


class Reindexes(BankWalks[Reindex]):
    """The access patterns of `REINDEX`."""

    def __init__(self, table: Table) -> None:
        super().__init__(table, Kind.REINDEX, Reindex)

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
