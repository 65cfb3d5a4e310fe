"""Index `list`: the memories or reviews of a whole bank, by their time; it may lag, and is read again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

from streambank.store import keys
from streambank.store.keys import Kind
from streambank.store.table import Table


class ListEntry(NamedTuple):
    """A memory or a review as the index has it, in the order of the list."""

    created_ms: int
    name: str
    cid: str


def newest(table: Table, bank: str, kind: Kind, count: int, after: tuple[int, str] | None) -> list[ListEntry]:
    """Return a bank's next *count* entries of *kind* after the time and name *after*, newest first."""
    up_to = after[0] if after else None
    shards = (
        table.query_index("list", partition, up_to=up_to, backward=True, page=count + 1)
        for partition in keys.list_partitions(bank, kind)
    )
    return sorted((_entry(item) for shard in shards for item in _capped(shard, count, after)), reverse=True)[:count]


def everything(table: Table, bank: str, kind: Kind, limit: int) -> list[ListEntry]:
    """Return at most *limit* entries of *kind* of a bank, in no order. Cost: one query a megabyte."""
    shards = (table.query_index("list", partition) for partition in keys.list_partitions(bank, kind))
    return list(islice((_entry(item) for shard in shards for item in shard), limit))


def _entry(item: Mapping[str, Any]) -> ListEntry:
    return ListEntry(item["G2SK"], keys.name_in(item["SK"]), keys.owner(item["PK"])[1])


def _capped(items: Iterator[dict[str, Any]], count: int, after: tuple[int, str] | None) -> Iterator[dict[str, Any]]:
    """Return the first *count* of *items*, which are newest first, after the time and name *after*."""
    rest = (item for item in items if after is None or (item["G2SK"], keys.name_in(item["SK"])) < after)
    return islice(rest, count)
