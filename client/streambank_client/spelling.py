"""How values are written on the wire."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

JsonObject: TypeAlias = dict[str, Any]
MetadataValue: TypeAlias = str | float | bool | datetime


def seconds(span: timedelta) -> str:
    """Return a span as the wire spells it, "60s" or "0.5s"."""
    whole, rest = divmod(span, timedelta(seconds=1))
    fraction = f"{rest // timedelta(microseconds=1):06}".rstrip("0")
    return f"{whole}.{fraction}s" if fraction else f"{whole}s"


def rfc3339(instant: datetime) -> str:
    """Return an instant as the wire spells it. Raises ValueError for one without a time zone."""
    if instant.tzinfo is None:
        raise ValueError("a time must have a time zone, such as datetime.now(UTC)")
    return instant.astimezone(UTC).isoformat().replace("+00:00", "Z")


def wrapped(values: Mapping[str, MetadataValue | Mapping[str, Any]]) -> JsonObject:
    """Return metadata as the wire wants it, each value under the name of its kind; what is wrapped already stays."""
    return {key: _wrapped(value) for key, value in values.items()}


def _wrapped(value: MetadataValue | Mapping[str, Any]) -> JsonObject:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, datetime):
        return {"timestampValue": rfc3339(value)}
    return {"stringValue": value} if isinstance(value, str) else {"doubleValue": value}
