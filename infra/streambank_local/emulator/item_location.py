"""Where an item is in moto's tables."""

from dataclasses import dataclass
from typing import Any

from moto.dynamodb import exceptions
from moto.dynamodb.models.dynamo_type import DynamoType, Item
from moto.dynamodb.models.table import Table

from streambank_local.emulator import moto_indexes


@dataclass(frozen=True)
class ItemLocation:
    """The location of an item: its table and its key."""

    table: Table
    hash_key: DynamoType
    range_key: DynamoType | None

    @classmethod
    def of(cls, table: Table, attributes: dict[str, Any]) -> "ItemLocation":
        """Return the location of an item with *attributes*, or raise what AWS says where they have no key."""
        names = [table.hash_key_attr] + ([table.range_key_attr] if table.range_key_attr else [])
        if any(name not in attributes for name in names):
            raise exceptions.ProvidedKeyDoesNotExist
        keys = [DynamoType(attributes[name]) for name in names]
        return cls(table, keys[0], keys[1] if len(keys) == 2 else None)

    @property
    def identity(self) -> tuple[str, DynamoType, DynamoType | None]:
        return self.table.name, self.hash_key, self.range_key

    def read(self) -> Item | None:
        item: Item | None = self.table.get_item(self.hash_key, self.range_key)
        return item

    def write(self, item: Item | None) -> None:
        moto_indexes.forget(self.table)
        # moto nests the items of a table with a range key by their hash keys.
        items: dict[Any, Any] = self.table.items
        parent, key = (items, self.hash_key) if self.range_key is None else (items[self.hash_key], self.range_key)
        if item is None:
            parent.pop(key, None)
        else:
            parent[key] = item
