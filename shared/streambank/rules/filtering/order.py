"""Orders of lists (AIP-132): `create_time desc, update_time`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from streambank.errors import InvalidArgument
from streambank.rules.filtering.field_names import join_names, to_snake_case

MAX_KEYS = 3
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class SortKey:
    field: str
    descending: bool = False

    def __str__(self) -> str:
        return f"{self.field} desc" if self.descending else self.field


@dataclass(frozen=True, slots=True)
class Order:
    """Up to three fields; equal orders have the same text as a string, which page tokens use."""

    keys: tuple[SortKey, ...]

    def __str__(self) -> str:
        return ", ".join(map(str, self.keys))

    def sorted(self, items: Iterable[Item], values_of: Callable[[Item], Mapping[str, Any]]) -> list[Item]:
        """Return *items* in order; ties keep their order, and items without a value come last in both directions."""
        pairs = [(item, values_of(item)) for item in items]
        for key in reversed(self.keys):
            pairs = _sorted(pairs, key)
        return [item for item, _ in pairs]


def _sorted(items: list[tuple[Item, Mapping[str, Any]]], key: SortKey) -> list[tuple[Item, Mapping[str, Any]]]:
    present = [pair for pair in items if pair[1].get(key.field) is not None]
    absent = [pair for pair in items if pair[1].get(key.field) is None]
    return sorted(present, key=lambda pair: pair[1][key.field], reverse=key.descending) + absent


def parse_order(text: str | None, allowed: Collection[str], default: str, *, field_name: str = "orderBy") -> Order:
    """Return the order in *text*, or the one in *default* if *text* is blank.

    Raises:
        InvalidArgument: a field is not in *allowed* or occurs twice, or a direction is neither asc nor desc.
    """
    parts = (text if text and text.strip() else default).split(",")
    if len(parts) > MAX_KEYS:
        raise InvalidArgument(field_name, f"has {len(parts)} fields; the limit is {MAX_KEYS}")
    keys = tuple(_key(part, allowed, field_name) for part in parts)
    if len({key.field for key in keys}) < len(keys):
        raise InvalidArgument(field_name, "names a field twice")
    return Order(keys)


def _key(part: str, allowed: Collection[str], field_name: str) -> SortKey:
    name, *rest = part.split() or [""]
    by_snake_case = {to_snake_case(field): field for field in allowed}
    if to_snake_case(name) not in by_snake_case:
        raise InvalidArgument(field_name, f"there is no field {name[:30]!r} to order by, only {join_names([*allowed])}")
    if rest not in ([], ["asc"], ["desc"]):
        raise InvalidArgument(field_name, f"{name[:30]} may only be followed by asc or desc")
    return SortKey(by_snake_case[to_snake_case(name)], rest == ["desc"])
