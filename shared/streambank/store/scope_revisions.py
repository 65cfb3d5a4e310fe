"""The revisions of all memories of a scope, for an answer as of the past."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from streambank.model import ids
from streambank.model.memory import Memory, Revision
from streambank.store import keys
from streambank.store.keys import Kind
from streambank.store.memory_items import all_revisions
from streambank.store.table import Table


class ScopeRevisions:
    """Reads `R#` of a scope, whose items are in the order of memory ids."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def of(
        self, bank: str, scope: Mapping[str, str], memories: Iterable[Memory], *, now: datetime
    ) -> dict[str, list[Revision]]:
        """Return the live revisions of *memories*, which were read before: one consistent query, a page a megabyte.

        Raises OutOfReach: the table did not answer.
        """
        by_id = dict[str, list[dict[str, Any]]]()
        for item in self._table.query(keys.scope(bank, ids.scope_id(scope)), prefix=Kind.REVISION.prefix):
            by_id.setdefault(keys.name_in(item["SK"]), []).append(item)
        return {
            memory.id: [
                one
                for one in all_revisions(memory, by_id.get(memory.id, ()))
                if one.is_live(now) and one.created >= memory.created
            ]
            for memory in memories
        }
