"""The revisions of all memories of a scope, for an answer as of the past."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from streambank.model import ids
from streambank.model.memory import Memory, Revision
from streambank.store import keys
from streambank.store.items_by_memory import ItemsByMemory
from streambank.store.keys import Kind
from streambank.store.memory_items import all_revisions
from streambank.store.table import Table


class ScopeRevisions:
    """Reads `R#` of a scope, whose items are in the order of memory ids."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def each(
        self, bank: str, scope: Mapping[str, str], memories: Iterable[Memory], *, now: datetime
    ) -> Iterator[tuple[Memory, list[Revision]]]:
        """Yield *memories*, which are in the order of their ids, with their live revisions: a consistent query beside.

        Raises OutOfReach: the table did not answer.
        """
        items = ItemsByMemory(self._table.query(keys.scope(bank, ids.scope_id(scope)), prefix=Kind.REVISION.prefix))
        for memory in memories:
            revisions = all_revisions(memory, items.of(memory.id))
            yield memory, [one for one in revisions if one.is_live(now) and one.created >= memory.created]
