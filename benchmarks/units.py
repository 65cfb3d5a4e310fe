"""Request units of DynamoDB, counted from the requests and by the rules of its price list.

A write costs a unit for each started KB of the item, twice that in a transaction; a consistent read costs one for
each started 4 KB; a query the same for the sum of what it read. An index write costs a unit for each started KB of
what the index holds, and happens when a projected attribute changes
(https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html).

A vector index is charged by bytes: those that a search examines, and those of an entry that a write changes, at least a
KB. A vector has four bytes a number, in the table too: a write of 4,125 bytes has 5 units in the example of
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/VectorSearchMonitoring.html.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

INDEXES = {"due": ("G1PK", "G1SK"), "list": ("G2PK", "G2SK")}
VECTOR, VECTOR_HASH = "v", "VPK"
# What an entry of the vector index holds.
VECTOR_ENTRY = ("PK", "SK", VECTOR_HASH, VECTOR, "w", "rev")
BYTES_OF_A_NUMBER = 4
LEAST_VECTOR_WRITE = 1024


def size(item: dict[str, Any]) -> int:
    """Return the bytes of an item: its attributes' names and values."""
    return sum(len(name) + _value_size(value) for name, value in item.items())


def _value_size(value: dict[str, Any]) -> int:
    [(kind, content)] = value.items()
    if kind == "N":
        return math.ceil(len(content.lstrip("-")) / 2) + 1
    if kind == "L":  # vectors are the only lists
        return BYTES_OF_A_NUMBER * len(content)
    return len(content.encode()) if isinstance(content, str) else len(content)


@dataclass
class Bill:
    """The cost of a piece of work."""

    calls: Counter[str] = field(default_factory=Counter)
    writes: Counter[str] = field(default_factory=Counter)
    write_units: int = 0
    index_units: int = 0
    read_units: float = 0
    vector_bytes: float = 0
    vector_write_bytes: int = 0

    @property
    def round_trips(self) -> int:
        return sum(self.calls.values())


class Meter:
    """Counts the requests of a client, with the sizes of the items in the emulator's table."""

    def __init__(self, client: Any, table: str) -> None:
        self._client, self._table = client, table
        self.bill = Bill()

    @contextmanager
    def running(self) -> Iterator[Bill]:
        """Count the requests inside the block, from zero."""
        self.bill = Bill()
        self._client.meta.events.register("provide-client-params.dynamodb", self._before)
        self._client.meta.events.register("after-call.dynamodb", self._after)
        self._is_paused = False
        try:
            yield self.bill
        finally:
            self._client.meta.events.unregister("provide-client-params.dynamodb", self._before)
            self._client.meta.events.unregister("after-call.dynamodb", self._after)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Do not count the benchmark's own requests."""
        self._is_paused = True
        try:
            yield
        finally:
            self._is_paused = False

    def _before(self, params: dict[str, Any], model: Any, **_: Any) -> None:
        if self._is_paused:
            return
        self.bill.calls[model.name] += 1
        self._request = (model.name, params)
        if model.name == "SearchVectors":
            params["ReturnConsumedCapacity"] = "TOTAL"
        if model.name == "TransactWriteItems":
            for action in params["TransactItems"]:
                [(kind, request)] = action.items()
                self._write(kind, request, factor=2)
        elif model.name == "BatchWriteItem":
            for entry in params["RequestItems"][self._table]:
                [(kind, request)] = entry.items()
                self._write(kind.removesuffix("Request"), request, factor=1)
        elif model.name in ("PutItem", "UpdateItem", "DeleteItem"):
            self._write(model.name.removesuffix("Item"), params, factor=1)

    def _write(self, kind: str, request: dict[str, Any], *, factor: int) -> None:
        key = request.get("Key") or {name: request["Item"][name] for name in ("PK", "SK")}
        before = self._item(key)
        after = _after(kind, request, before, key)
        units = math.ceil(max(size(before), size(after), 1) / 1024) * factor
        self.bill.write_units += units
        self.bill.writes[key["SK"]["S"].split("#")[0]] += units
        self.bill.index_units += sum(_index_units(names, before, after) for names in INDEXES.values())
        self.bill.vector_write_bytes += _vector_write_bytes(before, after)

    def _item(self, key: dict[str, Any]) -> dict[str, Any]:
        with self.paused():
            item: dict[str, Any] = self._client.get_item(TableName=self._table, Key=key).get("Item", {})
        return item

    def _after(self, parsed: dict[str, Any], model: Any, **_: Any) -> None:
        if self._is_paused or "Error" in parsed:
            return
        if model.name == "GetItem":
            self.bill.read_units += max(1, math.ceil(size(parsed.get("Item", {})) / 4096))
        elif model.name == "BatchGetItem":
            self._batch_read(parsed)
        elif model.name == "Query":
            consistent = self._request[1].get("ConsistentRead", False)
            units = max(1, math.ceil(sum(map(size, parsed["Items"])) / 4096))
            self.bill.read_units += units if consistent else units / 2

        elif model.name == "SearchVectors":
            self.bill.vector_bytes += parsed["ConsumedCapacity"]["VectorSearchRequestBytes"]

    def _batch_read(self, parsed: dict[str, Any]) -> None:
        keys = self._request[1]["RequestItems"][self._table]["Keys"]
        items = parsed["Responses"].get(self._table, [])
        self.bill.read_units += sum(max(1, math.ceil(size(item) / 4096)) for item in items) + len(keys) - len(items)


def _after(kind: str, request: dict[str, Any], before: dict[str, Any], key: dict[str, Any]) -> dict[str, Any]:
    """Return the item after a write, exact in its size and its index attributes."""
    if kind == "Put":
        item: dict[str, Any] = request["Item"]
        return item
    if kind == "Delete":
        return {}
    names, values = request.get("ExpressionAttributeNames", {}), request.get("ExpressionAttributeValues", {})
    expression = request.get("UpdateExpression", "")
    changed = {name: values.get(f":to_{name}") for name in names.values() if f"#{name}" in expression}
    return {name: value for name, value in {**key, **before, **changed}.items() if value is not None}


def _index_units(names: tuple[str, str], before: dict[str, Any], after: dict[str, Any]) -> int:
    """Return the write units of an index: an entry that moves is deleted and written, each below a KB."""
    old, new = ([item.get(name) for name in names] for item in (before, after))
    if old == new:
        return 0
    return sum(all(value is not None for value in entry) for entry in (old, new))


def _vector_write_bytes(before: dict[str, Any], after: dict[str, Any]) -> int:
    """Return the bytes that a write is charged for the vector index: those of the entry, if it changes."""
    old, new = _vector_entry(before), _vector_entry(after)
    return 0 if old == new else max(LEAST_VECTOR_WRITE, size(new or old))


def _vector_entry(item: dict[str, Any]) -> dict[str, Any]:
    is_entry = VECTOR in item and VECTOR_HASH in item
    return {name: item[name] for name in VECTOR_ENTRY if name in item} if is_entry else {}
