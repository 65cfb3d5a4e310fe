"""The revisions of all memories of a scope, for an answer as of the past."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from streambank.model import ids
from streambank.model.memory import Memory, Revision
from streambank.rules.batches import batches
from streambank.store import keys
from streambank.store.items_by_memory import ItemsByMemory
from streambank.store.memory_items import all_revisions
from streambank.store.table import Table

# How many memories are read before their revisions.
_RUN = 1_000


class ScopeRevisions:
    """Reads `R#` of a scope, whose items are in the order of memory ids."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def each(
        self, bank: str, scope: Mapping[str, str], memories: Iterable[Memory], *, now: datetime
    ) -> Iterator[tuple[Memory, list[Revision]]]:
        """Yield *memories*, which are in the order of their ids, with their live revisions: a consistent query a run.

        The revisions of a run are read after its memories: a change between the two takes no text from the past.

        Raises OutOfReach: the table did not answer.
        """
        pk = keys.scope(bank, ids.scope_id(scope))
        for run in batches(memories, _RUN):
            between = keys.revision_prefix(run[0].id), keys.revision_prefix(run[-1].id) + keys.LAST
            items = ItemsByMemory(self._table.query(pk, between=between))
            for memory in run:
                revisions = all_revisions(memory, items.of(memory.id))
                yield memory, [one for one in revisions if one.is_live(now) and one.created >= memory.created]
