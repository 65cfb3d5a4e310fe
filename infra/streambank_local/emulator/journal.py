"""The table on the disk: loaded at the start, and each request written before its reply."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from moto.core.exceptions import JsonRESTError
from moto.dynamodb.exceptions import ERROR_TYPE_PREFIX
from moto.dynamodb.models.dynamo_type import DynamoType, Item
from moto.dynamodb.models.table import StreamRecord, StreamShard, Table

from streambank_local.disk.record import Kind, Record
from streambank_local.disk.store import NotKeptError, Store
from streambank_local.emulator import attribute_json
from streambank_local.emulator.item_location import ItemLocation

TTL_ATTRIBUTE = "ttl"
# DynamoDB deletes an expired item within a few days.
# https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/howitworks-ttl.html
TTL_GRACE = timedelta(days=2)


class StorageError(JsonRESTError):
    """The reply to a request whose changes are not on the disk; boto3 repeats it, as it does AWS's."""

    code = 500

    def __init__(self, message: str) -> None:
        super().__init__(ERROR_TYPE_PREFIX + "InternalServerError", message)


class TableJournal:
    """Keeps one table in a store. Its stream has what a request changed, and nothing of a cancelled transaction."""

    def __init__(self, table: Table, store: Store) -> None:
        self._table = table
        self._store = store
        self._length = 0
        self._before: dict[Any, tuple[ItemLocation, Item | None]] = {}

    def load(self, now: datetime) -> None:
        """Put the stored items into the table, and remove from the store what expired long before *now*.

        Raises:
            NotKeptError: the store cannot be written.
        """
        oldest = (now - TTL_GRACE).timestamp()
        expired = []
        for record in self._store.read(Kind.ITEM):
            attributes = attribute_json.loads_item(record.content or b"")
            if _expiry(attributes) < oldest:
                expired.append(Record(record.kind, record.first, record.second, None))
            else:
                self._put(attributes)
        if expired:
            self._store.write(expired)

    def begin(self) -> None:
        """Begin a request."""
        self._length = len(self._shard.items)
        self._before.clear()

    def note(self, location: ItemLocation, before: Item | None) -> None:
        """Note what the request changes first at a location."""
        if location.table is self._table:
            self._before.setdefault(location.identity, (location, before))

    def end(self) -> None:
        """Write what the request changed. Raises StorageError, and the table is as it was."""
        records = _records(self._shard.items[self._length :])
        if not records:
            return
        try:
            self._store.write(records)
        except NotKeptError as error:
            self._take_back()
            raise StorageError(str(error)) from error

    @property
    def _shard(self) -> StreamShard:
        if self._table.stream_shard is None:
            raise ValueError(f"the table {self._table.name} has no stream")
        return self._table.stream_shard

    def _take_back(self) -> None:
        for location, item in self._before.values():
            location.write(item)
        del self._shard.items[self._length :]

    def _put(self, attributes: dict[str, Any]) -> None:
        location = ItemLocation.of(self._table, attributes)
        item = Item(location.hash_key, location.range_key, {})
        for name, value in attributes.items():
            # The size was checked when the item was written; moto's check takes two thirds of the time of a start.
            dict.__setitem__(item.attrs, name, DynamoType(value))
        location.write(item)


def _expiry(attributes: dict[str, Any]) -> float:
    return float(attributes.get(TTL_ATTRIBUTE, {}).get("N", "inf"))


def _records(changes: Iterable[StreamRecord]) -> list[Record]:
    """Return the last state of each item that changed."""
    records = {}
    for change in changes:
        image = change.record["dynamodb"]
        first, second = (next(iter(value.values())) for value in image["Keys"].values())
        content = None if change.record["eventName"] == "REMOVE" else attribute_json.dumps(image["NewImage"])
        records[first, second] = Record(Kind.ITEM, first, second, content)
    return list(records.values())
