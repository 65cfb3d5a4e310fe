"""Change records: written with every change of a scope, read in the order of their times or of a scope's versions."""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any

from streambank.model import ids
from streambank.model.bank import BankConfig
from streambank.model.change_record import ChangedMemory, ChangeKind, ChangeRecord, ChangeStamp, RecordPosition
from streambank.model.ids import OperationId
from streambank.model.memory import Change
from streambank.rules.changes import changed_memories, record_expiry
from streambank.store import codec, keys, text
from streambank.store.actions import Put
from streambank.store.attributes import milliseconds, seconds
from streambank.store.keys import Kind
from streambank.store.table import Table


def record_put(bank: str, record: ChangeRecord) -> Put:
    """Return the write of *record*, in the transaction that raises the scope to its version."""
    stamp = record.stamp
    rows = [[one.kind, one.memory_id, one.revision] for one in record.memories]
    values: codec.Values = {
        "at": milliseconds(stamp.time),
        "chg": text.dumps(rows),
        "op": str(stamp.operation) if stamp.operation else None,
        "ttl": seconds(stamp.expires),
        "G2PK": keys.list_partition(bank, Kind.CHANGE, f"{record.cid}{record.version}"),
        "G2SK": milliseconds(stamp.time),
    }
    return Put(keys.change_record(bank, record.cid, record.version), values)


def record_puts(
    bank: str, scope: Mapping[str, str], version: int, changes: Iterable[Change], stamp: ChangeStamp
) -> list[Put]:
    """Return the write of the record of *changes*, which raise the scope to *version*, unless no reply shows them."""
    memories = changed_memories(changes)
    return [record_put(bank, ChangeRecord(ids.scope_id(scope), version, stamp, memories))] if memories else []


def default_stamp(now: datetime, operation: OperationId | None = None) -> ChangeStamp:
    """Return the stamp of changes of *now* in a bank that does not say how long revisions live."""
    return ChangeStamp(now, record_expiry(BankConfig(), now=now), operation)


def record_of(item: Mapping[str, Any]) -> ChangeRecord:
    """Return the record that an item holds."""
    rows = (ChangedMemory(ChangeKind(kind), name, revision) for kind, name, revision in json.loads(item["chg"]))
    operation = OperationId.parse(item.get("op", ""))
    stamp = ChangeStamp(codec.instant_of(item["at"]), codec.instant_of(item["ttl"] * 1000), operation)
    return ChangeRecord(keys.owner(item["PK"])[1], int(keys.name_in(item["SK"])), stamp, tuple(rows))


class Changes:
    """The access patterns of change records."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def of_scope(
        self, bank: str, scope: Mapping[str, str], after: int, *, now: datetime, page: int
    ) -> Iterator[ChangeRecord]:
        """Yield the live records of a scope behind version *after*, in order: consistent, *page* a round trip."""
        first = keys.change_record(bank, ids.scope_id(scope), after + 1)
        between = (first.sk, Kind.CHANGE.prefix + keys.LAST)
        records = map(record_of, self._table.query(first.pk, between=between, page=page))
        return (record for record in records if record.stamp.expires > now)

    def newest_of_scope(
        self, bank: str, scope: Mapping[str, str], after: int, *, now: datetime, page: int
    ) -> Iterator[ChangeRecord]:
        """Yield the live records of a scope behind version *after*, newest first: consistent, *page* a round trip."""
        first = keys.change_record(bank, ids.scope_id(scope), after + 1)
        between = (first.sk, Kind.CHANGE.prefix + keys.LAST)
        records = map(record_of, self._table.query(first.pk, between=between, backward=True, page=page))
        return (record for record in records if record.stamp.expires > now)

    def listed(self, bank: str, since_ms: int, *, page: int) -> Iterator[RecordPosition]:
        """Yield where the records of a bank are from a time on, in order, from index `list`, which may lag."""
        partitions = keys.list_partitions(bank, Kind.CHANGE)
        shards = (self._table.query_index("list", one, since=since_ms, page=page) for one in partitions)
        return heapq.merge(*map(_in_order, shards))

    def read(
        self, bank: str, positions: Iterable[RecordPosition], *, now: datetime
    ) -> dict[RecordPosition, tuple[ChangeRecord, dict[str, str]]]:
        """Return those of the records that are live, each with its scope. Cost: two items a record."""
        places = [(one, keys.change_record(bank, one.cid, one.version)) for one in positions]
        items = self._table.read(key for one, record in places for key in (record, keys.version(bank, one.cid)))
        triples = ((one, items.get(record), items.get(keys.version(bank, one.cid))) for one, record in places)
        read = {
            one: (record_of(record), json.loads(scope["sco"])) for one, record, scope in triples if record and scope
        }
        return {one: entry for one, entry in read.items() if entry[0].stamp.expires > now}


def _in_order(shard: Iterator[dict[str, Any]]) -> Iterator[RecordPosition]:
    """Yield the positions of a shard; the index leaves the order of those with one time open."""
    for time_ms, items in groupby(shard, itemgetter("G2SK")):
        names = ((keys.owner(item["PK"])[1], int(keys.name_in(item["SK"]))) for item in items)
        yield from sorted(RecordPosition(time_ms, *name) for name in names)
