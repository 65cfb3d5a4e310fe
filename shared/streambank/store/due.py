"""Index `due`: what the sweep must look at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from streambank.store import keys
from streambank.store.attributes import instant, milliseconds
from streambank.store.table import Table


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


@dataclass(frozen=True, slots=True)
class DueItem:
    """A key of the index; *name* is the sid of a stream, the cid of a scope, a conversation's hash, or empty."""

    kind: DueKind
    bank: str
    name: str = ""
    window: int = 0
    memory: str = ""
    version: str = ""
    due: datetime | None = None


class DueIndex:
    """Reads index `due`; it may lag, so whoever acts reads the item again."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def items(self, now: datetime) -> Iterator[DueItem]:
        """Yield what is due at *now*, the shards in an order that turns with the minutes: none starves."""
        second = (milliseconds(now) or 0) // 1000
        partitions = keys.due_partitions()
        turn = second // 60 % len(partitions)
        for partition in partitions[turn:] + partitions[:turn]:
            for item in self._table.query_index("due", partition, up_to=second):
                yield replace(due_item(item["PK"], item["SK"]), due=instant(int(item["G1SK"]) * 1000))

    def earliest(self) -> int | None:
        """Return the epoch second at which something is due next, or None."""
        firsts = (next(self._table.query_index("due", part, page=1), None) for part in keys.due_partitions())
        return min((int(item["G1SK"]) for item in firsts if item), default=None)


_WHOLE = {
    "HEAD": DueKind.HEAD,
    "V": DueKind.ERASURE,
    "ERASE": DueKind.ERASURE,
    "EXPORT": DueKind.EXPORT,
    "IMPORT": DueKind.IMPORT,
}


def due_item(pk: str, sk: str) -> DueItem:
    """Return what the key of an item in index `due` stands for."""
    if pk == "BANKS":
        return DueItem(DueKind.BANK, sk)
    _, bank, name = (*pk.split("#"), "")[:3]
    if sk in _WHOLE:
        return DueItem(_WHOLE[sk], bank, name)
    if sk.startswith("O#"):
        return DueItem(DueKind.CHAT, bank, name, version=sk[2:])
    if sk.startswith("W#"):
        return DueItem(DueKind.WINDOW, bank, name, window=int(sk[2:]))
    return DueItem(DueKind.MEMORY, bank, name, memory=sk[2:])
