"""Plain values as DynamoDB's attribute values and back: items hold only text, whole numbers, bytes and vectors."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

Item: TypeAlias = "dict[str, Any]"
# A vector is a tuple of whole numbers.
Value: TypeAlias = "str | int | bytes | tuple[int, ...]"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def packed(values: Mapping[str, Value | None]) -> Item:
    """Return *values* as attribute values; what is None is left out, since an index skips what is absent."""
    return {name: _typed(value) for name, value in values.items() if value is not None}


def _typed(value: Value) -> dict[str, Any]:
    if isinstance(value, str):
        return {"S": value}
    if isinstance(value, tuple):
        return {"L": [{"N": str(number)} for number in value]}
    return {"B": value} if isinstance(value, bytes) else {"N": str(int(value))}


def unpacked(item: Item) -> dict[str, Any]:
    """Return the plain values of *item*."""
    return {name: _plain(*value.popitem()) for name, value in ((n, dict(v)) for n, v in item.items())}


def _plain(kind: str, value: Any) -> Any:
    if kind == "L":
        return tuple(int(number["N"]) for number in value)
    return int(value) if kind == "N" else value


def milliseconds(instant: datetime | None) -> int | None:
    """Return *instant* as milliseconds since the epoch, rounded down."""
    return None if instant is None else (instant - _EPOCH) // _MILLISECOND


def instant(epoch_milliseconds: int | None) -> datetime | None:
    """Return the instant that `milliseconds` gave."""
    return None if epoch_milliseconds is None else _EPOCH + epoch_milliseconds * _MILLISECOND


def seconds(instant: datetime | None) -> int | None:
    """Return *instant* as seconds since the epoch, rounded up: a timer never fires early (TTL and `due` count so)."""
    return None if instant is None else math.ceil((instant - _EPOCH) / timedelta(seconds=1))
