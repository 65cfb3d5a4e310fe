"""Index `due`: what the sweep must look at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from itertools import islice

from streambank.rules.fairness import round_robin
from streambank.store import due_partitions, keys
from streambank.store.attributes import instant, milliseconds
from streambank.store.keys import Key, Kind
from streambank.store.table import Table

# Keys of a shard that are read before the first is handled, so that banks can take turns: a page or less of the index.
_READ_AHEAD = 5_000


class DueKind(StrEnum):
    """Kinds of items that may be due."""

    HEAD = "HEAD"
    WINDOW = "WINDOW"
    MEMORY = "MEMORY"
    BANK = "BANK"
    CHAT = "CHAT"
    ERASURE = "ERASURE"
    EXPORT = "EXPORT"
    IMPORT = "IMPORT"
    POLICY = "POLICY"
    REINDEX = "REINDEX"
    MOVE = "MOVE"
    REPLAY = "REPLAY"
    INDEX = "INDEX"


@dataclass(frozen=True, slots=True)
class DueItem:
    """A key of the index; *name* is the sid of a stream, the cid of a scope, a conversation's hash, or empty."""

    kind: DueKind
    bank: str
    name: str = ""
    window: int = 0
    memory: str = ""
    version: str = ""
    move: int = 0
    due: datetime | None = None


class DueIndex:
    """Reads index `due`; it may lag, so the caller reads the item again before it acts."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def items(self, now: datetime) -> Iterator[DueItem]:
        """Yield what is due at *now*, jobs excepted: banks take turns, and no shard always comes last."""
        second = _second(now)
        partitions = due_partitions.shards()
        turn = second // 60 % len(partitions)
        shards = [self._due(partition, second) for partition in partitions[turn:] + partitions[:turn]]
        while chunk := [item for shard in shards for item in islice(shard, _READ_AHEAD)]:
            yield from round_robin(chunk, _bank)

    def jobs(self, now: datetime) -> Iterator[DueItem]:
        """Yield the jobs, and the banks to delete, that are due at *now*: banks take turns."""
        return round_robin(self._due(due_partitions.JOBS, _second(now)), _bank)

    def _due(self, partition: str, second: int) -> Iterator[DueItem]:
        for item in self._table.query_index("due", partition, up_to=second):
            yield replace(due_item(keys.key_of(item)), due=instant(int(item["G1SK"]) * 1000))

    def earliest(self) -> int | None:
        """Return the epoch second at which something is due next, or None."""
        partitions = [*due_partitions.shards(), due_partitions.JOBS]
        firsts = (next(self._table.query_index("due", part, page=1), None) for part in partitions)
        return min((int(item["G1SK"]) for item in firsts if item), default=None)


def _second(now: datetime) -> int:
    return (milliseconds(now) or 0) // 1000


def _bank(item: DueItem) -> str:
    return item.bank


_KINDS = {
    Kind.HEAD: DueKind.HEAD,
    Kind.VERSION: DueKind.ERASURE,
    Kind.ERASE: DueKind.ERASURE,
    Kind.EXPORT: DueKind.EXPORT,
    Kind.IMPORT: DueKind.IMPORT,
    Kind.POLICY: DueKind.POLICY,
    Kind.REINDEX: DueKind.REINDEX,
    Kind.REPLAY: DueKind.REPLAY,
    Kind.INDEX: DueKind.INDEX,
}


def due_item(key: Key) -> DueItem:
    """Return the parts of a key in index `due`."""
    if key.pk == keys.BANKS:
        return DueItem(DueKind.BANK, key.sk)
    bank, name = keys.owner(key.pk)
    match keys.kind_of(key.sk):
        case Kind.CHAT_NOTE:
            return DueItem(DueKind.CHAT, bank, name, version=keys.name_in(key.sk))
        case Kind.WINDOW | Kind.RESULT as kind:
            of_kind = DueKind.WINDOW if kind == Kind.WINDOW else DueKind.REPLAY
            return DueItem(of_kind, bank, name, window=int(keys.name_in(key.sk)))
        case Kind.MOVE:
            return DueItem(DueKind.MOVE, bank, name, move=int(keys.name_in(key.sk)))
        case Kind.MEMORY:
            return DueItem(DueKind.MEMORY, bank, name, memory=keys.name_in(key.sk))
        case kind:
            return DueItem(_KINDS[Kind(kind)], bank, name)
