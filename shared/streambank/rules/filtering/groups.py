"""Filter groups over typed metadata: a memory matches if every filter of any group holds."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from streambank.errors import InvalidArgument
from streambank.model.metadata import MetadataValue
from streambank.rules.filtering import literals, typed_comparison
from streambank.rules.filtering.field_names import join_names, to_snake_case

MAX_GROUPS = 10
MAX_FILTERS = 10
_VALUES = ("string_value", "double_value", "bool_value", "timestamp_value")


class GroupOp(StrEnum):
    EQUAL = "EQUAL"
    GREATER_THAN = "GREATER_THAN"
    LESS_THAN = "LESS_THAN"


_COMPARE = {
    GroupOp.EQUAL: operator.eq,
    GroupOp.GREATER_THAN: operator.gt,
    GroupOp.LESS_THAN: operator.lt,
}
# How proto3 JSON may write an enum that is not set.
_UNSET = ("", "OPERATOR_UNSPECIFIED")


@dataclass(frozen=True, slots=True)
class KeyFilter:
    """One comparison; an absent key passes only if the comparison is negated."""

    key: str
    value: MetadataValue
    op: GroupOp = GroupOp.EQUAL
    negate: bool = False

    def matches(self, metadata: Mapping[str, object]) -> bool:
        """Tell whether *metadata* passes."""
        return typed_comparison.holds(_COMPARE[self.op], metadata.get(self.key), self.value) != self.negate


@dataclass(frozen=True, slots=True)
class Groups:
    """Filters in groups: all filters of any one group must pass. Without groups everything passes."""

    groups: tuple[tuple[KeyFilter, ...], ...] = ()

    @property
    def is_blank(self) -> bool:
        """Tell whether there are no groups, so that everything matches."""
        return not self.groups

    def matches(self, metadata: Mapping[str, object]) -> bool:
        """Tell whether *metadata* passes."""
        return self.is_blank or any(all(one.matches(metadata) for one in group) for group in self.groups)


def parse_groups(value: object, path: str) -> Groups:
    """Return the groups of a request's JSON; null and an empty list mean no groups.

    Raises:
        InvalidArgument: a field, an operator or a type is unknown, or a group holds no filter.
    """
    groups = () if value is None else _list(value, path, most=MAX_GROUPS)
    return Groups(tuple(_group(group, f"{path}[{index}]") for index, group in enumerate(groups)))


def _group(value: object, path: str) -> tuple[KeyFilter, ...]:
    where, filters = _message(value, path, ("filters",)).get("filters", (f"{path}.filters", []))
    items = _list(filters, where, most=MAX_FILTERS)
    if not items:
        raise InvalidArgument(where, "must contain a filter; an empty group would match everything")
    return tuple(_filter(item, f"{where}[{index}]") for index, item in enumerate(items))


def _filter(value: object, path: str) -> KeyFilter:
    fields = _message(value, path, ("key", "value", "op", "negate"))
    key_path, key = fields.get("key", (f"{path}.key", ""))
    if not isinstance(key, str) or not key:
        raise InvalidArgument(key_path, "must be a metadata key")
    expected = _value(*fields.get("value", (f"{path}.value", {})))
    op = _op(*fields.get("op", (f"{path}.op", "")), expected)
    negate_path, negate = fields.get("negate", (f"{path}.negate", False))
    if not isinstance(negate, bool):
        raise InvalidArgument(negate_path, "must be true or false")
    return KeyFilter(key, expected, op, negate)


def _op(path: str, value: object, expected: MetadataValue) -> GroupOp:
    if value in _UNSET:
        return GroupOp.EQUAL
    if value not in list(GroupOp):
        raise InvalidArgument(path, f"must be {join_names([*GroupOp], 'or')}")
    op = GroupOp(str(value))
    if isinstance(expected, bool) and op is not GroupOp.EQUAL:
        raise InvalidArgument(path, "must be EQUAL, because true and false have no order")
    return op


def _value(path: str, value: object) -> MetadataValue:
    fields = _message(value, path, _VALUES)
    if len(fields) != 1:
        raise InvalidArgument(path, f"must have exactly one of {join_names([*_VALUES])}")
    [(name, (where, item))] = fields.items()
    match name:
        case "bool_value" if isinstance(item, bool):
            return item
        case "string_value" if isinstance(item, str):
            return item
        case "timestamp_value" if isinstance(item, str):
            return _instant(item, where)
        case "double_value" if isinstance(item, int | float) and not isinstance(item, bool):
            return _double(item, where)
    raise InvalidArgument(where, "is not of the type in its name")


def _instant(value: str, path: str) -> MetadataValue:
    instant = literals.parse_instant(value) if "T" in value.upper() else None
    if instant is None:
        raise InvalidArgument(path, 'must be a time such as "2026-01-31T23:59:59Z", with an offset')
    return instant


def _double(value: float, path: str) -> float:
    # The limit also excludes infinity, nan, and integers that are too large for a double.
    if not abs(value) <= 1.7e308:
        raise InvalidArgument(path, "must be a finite double")
    return float(value)


def _list(value: object, path: str, *, most: int) -> list[Any]:
    if not isinstance(value, list):
        raise InvalidArgument(path, "must be a list")
    if len(value) > most:
        raise InvalidArgument(path, f"has {len(value)} elements; the limit is {most}")
    return value


def _message(value: object, path: str, names: tuple[str, ...]) -> dict[str, tuple[str, Any]]:
    """Return the fields of an object as {snake_case name: (path in the request, value)}; null counts as absent."""
    if not isinstance(value, dict):
        raise InvalidArgument(path, "must be an object")
    fields: dict[str, tuple[str, Any]] = {}
    for spelled, item in value.items():
        name, where = to_snake_case(spelled), f"{path}.{spelled}"
        if name not in names:
            raise InvalidArgument(where, "unknown field")
        if name in fields:
            raise InvalidArgument(where, "given twice, in two spellings")
        fields[name] = (where, item)
    return {name: pair for name, pair in fields.items() if pair[1] is not None}
