"""How values are written on the wire."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

JsonObject: TypeAlias = dict[str, Any]
MetadataValue: TypeAlias = str | float | bool | datetime


def camel_case(name: str) -> str:
    """Return a snake_case name in camelCase."""
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def duration(span: timedelta) -> str:
    """Return a time span as the wire writes it, such as "60s" or "0.5s"."""
    whole, rest = divmod(span, timedelta(seconds=1))
    fraction = f"{rest // timedelta(microseconds=1):06}".rstrip("0")
    return f"{whole}.{fraction}s" if fraction else f"{whole}s"


def rfc3339(instant: datetime) -> str:
    """Return an instant as the wire writes it. Raises ValueError for one without a time zone."""
    if instant.tzinfo is None:
        raise ValueError("a time must have a time zone, such as datetime.now(UTC)")
    return instant.astimezone(UTC).isoformat().replace("+00:00", "Z")


def typed_metadata(values: Mapping[str, MetadataValue | Mapping[str, Any]]) -> JsonObject:
    """Return metadata with each value under the name of its type; a value that has one already stays as it is."""
    return {key: _typed_value(value) for key, value in values.items()}


def _typed_value(value: MetadataValue | Mapping[str, Any]) -> JsonObject:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, datetime):
        return {"timestampValue": rfc3339(value)}
    return {"stringValue": value} if isinstance(value, str) else {"doubleValue": value}


def json_bytes(body: Any) -> bytes:
    """Return a body as JSON in UTF-8.

    Half of a surrogate pair is escaped, so that the service can name the field that holds it.

    Raises:
        ValueError: a number is NaN or infinite.
    """
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(body, separators=(",", ":")).encode()
