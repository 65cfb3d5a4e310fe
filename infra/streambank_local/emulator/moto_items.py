"""Makes moto's items faster to build, copy, measure and return.

Measured on moto 5.2.5, in a profile of the pipeline's tests: a sixth of the time went into copies of values that
nothing changes, and into measuring an item again for each of its attributes.
"""

from base64 import b64decode
from collections.abc import Callable
from typing import Any

from moto.dynamodb.exceptions import ItemSizeTooLarge
from moto.dynamodb.models.dynamo_type import DynamoType, Item, LimitedSizeDict
from moto.dynamodb.models.utilities import dynamo_to_dict

from streambank_local.emulator.moto_numbers import Numbers

# As moto has it: between the 400 KB of AWS's documents and what AWS was seen to take.
ITEM_LIMIT_BYTES = 405_000

# Values of these types are never changed in place.
_SCALARS = frozenset({"S", "N", "B", "BOOL", "NULL"})
# Keys are of these types.
_PLAINLY_COMPARED = frozenset({"S", "B"})
_PLAIN = frozenset({str, int, bool, float, bytes, type(None)})


def build(_: Callable[..., None]) -> Callable[..., None]:
    """Let an item be measured once when it is built, not once for each attribute."""

    def initialize(self: Item, hash_key: DynamoType, range_key: DynamoType | None, attrs: dict[str, Any]) -> None:
        self.hash_key, self.range_key, self.attrs = hash_key, range_key, LimitedSizeDict()
        dict.update(self.attrs, {name: DynamoType(value) for name, value in attrs.items()})
        if item_size(self) > ITEM_LIMIT_BYTES:
            raise ItemSizeTooLarge

    return initialize


def copy_item(item: Item, _: Any = None) -> Item:
    """Return a copy of an item, whose scalars it shares."""
    result: Any = Item.__new__(Item)
    result.hash_key, result.range_key, result.attrs = item.hash_key, item.range_key, LimitedSizeDict()
    dict.update(result.attrs, {name: copy_value(value) for name, value in item.attrs.items()})
    copied: Item = result
    return copied


def copy_value(value: DynamoType, _: Any = None) -> DynamoType:
    """Return a copy of an attribute value; a scalar, and a vector, is its own copy."""
    if value.type in _SCALARS or type(value.value) is Numbers:
        return value
    result = DynamoType.__new__(DynamoType)
    result.type = value.type
    if value.type == "M":
        result.value = {name: copy_value(member) for name, member in value.value.items()}
    elif value.type == "L":
        result.value = [copy_value(member) for member in value.value]
    else:
        result.value = list(value.value)
    return result


def item_size(item: Item) -> int:
    """Return how many bytes the names and values of an item have."""
    return sum(_bytes(name) + value_size(value) for name, value in item.attrs.items())


def value_size(value: DynamoType) -> int:
    """Return how many bytes an attribute value has, by moto's count."""
    content = value.value
    if value.type == "M":
        return sum(_bytes(name) + value_size(member) for name, member in content.items())
    if value.type == "L":
        return content.size() if type(content) is Numbers else sum(map(value_size, content))
    if value.type in {"SS", "NS", "BS"}:
        return sum(map(_bytes, content))
    return 1 if isinstance(content, bool) else _bytes(content)


def _bytes(text: str | bytes) -> int:
    return len(text) if isinstance(text, bytes) or text.isascii() else len(text.encode())


def equals(original: Callable[[DynamoType, DynamoType], bool]) -> Callable[[DynamoType, DynamoType], bool]:
    """Compare texts and bytes, as keys are, by themselves."""

    def are_equal(one: DynamoType, other: DynamoType) -> bool:
        if one.type in _PLAINLY_COMPARED:
            return one.type == other.type and bool(one.value == other.value)
        return original(one, other)

    return are_equal


def hash_value(original: Callable[[DynamoType], int]) -> Callable[[DynamoType], int]:
    """Hash texts and bytes by themselves."""
    return lambda one: hash((one.type, one.value)) if one.type in _PLAINLY_COMPARED else original(one)


def plain(value: Any) -> Any:
    """Return a reply of moto's with its attribute values as plain dicts, and binary values as bytes."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    convert = _CONVERSIONS.get(kind, dynamo_to_dict)
    return convert(value)


def _plain_dict(value: dict[str, Any]) -> dict[str, Any]:
    if len(value) == 1 and isinstance(value.get("B"), str):
        return {"B": b64decode(value["B"])}
    return {name: plain(member) for name, member in value.items()}


def _plain_value(value: DynamoType) -> Any:
    if value.type == "B":
        return _plain_dict({"B": value.value})
    return dynamo_to_dict(value) if value.type == "BS" else {value.type: plain(value.value)}


_CONVERSIONS: dict[type, Callable[[Any], Any]] = {
    dict: _plain_dict,
    LimitedSizeDict: _plain_dict,
    list: lambda value: [plain(member) for member in value],
    DynamoType: _plain_value,
    Item: lambda value: _plain_dict(value.to_json()),
    Numbers: lambda value: value.to_json(),
}
