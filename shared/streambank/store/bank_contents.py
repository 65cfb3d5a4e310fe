"""Deleting all that a closed bank holds, in an order that lets nobody write behind the deletion.

First its jobs, so that none is resumed. Then every stream: without a head nothing is sealed, and without its window no
generation commits, because each of its writes has the window's state as a condition. Only then what generations write:
scopes with their memories, and sessions and conversations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from streambank.rules.batches import batches
from streambank.store import keys
from streambank.store.keys import Key, Kind
from streambank.store.table import BATCH_DELETES, Table

_PARTITIONS = {
    Kind.STREAM: keys.stream,
    Kind.SCOPE: keys.scope,
    Kind.SESSION: keys.session,
    Kind.CHAT: keys.chat,
}


def delete_contents(table: Table, bank_id: str) -> Iterator[int]:
    """Delete everything of a bank but its own item, a batch a step; yield how many items each step deleted.

    What was deleted stays so: a deletion that is interrupted goes on with what is left.
    """
    for of_jobs in (keys.bank_config(bank_id).pk, keys.bank_replay(bank_id).pk):
        yield from _delete_partition(table, bank_id, of_jobs)
    for prefix in (Kind.STREAM.prefix, ""):
        shards = (keys.registry(bank_id, shard) for shard in range(keys.REGISTRY_SHARDS))
        registered = chain.from_iterable(table.query(shard, prefix=prefix) for shard in shards)
        for entries in batches(map(keys.key_of, registered), BATCH_DELETES):
            yield from _delete_entries(table, bank_id, entries)
    yield from _delete_partition(table, bank_id, keys.usage(bank_id, "").pk)


def _delete_entries(table: Table, bank_id: str, entries: Sequence[Key]) -> Iterator[int]:
    """Delete the partitions that *entries* of the registry name, and then the entries."""
    for entry in entries:
        kind, name, _ = keys.registry_entry(entry.sk)
        yield from _delete_partition(table, bank_id, _PARTITIONS[Kind(kind)](bank_id, name))
    yield table.delete_all(entries)


def _delete_partition(table: Table, bank_id: str, pk: str) -> Iterator[int]:
    """Delete a partition until it is seen empty: a window may be sealed behind the query that meets its head."""
    while True:
        is_empty = True
        for batch in batches(map(keys.key_of, table.query(pk)), BATCH_DELETES):
            is_empty = False
            names = [keys.memory_name(bank_id, keys.name_in(key.sk)) for key in batch if _is_memory(key)]
            yield table.delete_all([*names, *batch])
        if is_empty:
            return


def _is_memory(key: Key) -> bool:
    return keys.kind_of(key.sk) == Kind.MEMORY
