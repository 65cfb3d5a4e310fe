"""What calls say about the memories of a window: labels, expiry, metadata."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

from streambank.errors import InvalidArgument
from streambank.model.metadata import MergeStrategy, Metadata, MetadataValue
from streambank.model.rule import Expiry, WindowSettings
from streambank.wire import reader
from streambank.wire.reader import Fields, swap

MAX_MAP_KEYS = 64
MAX_MAP_BYTES = 4_096
SHORTEST_TTL = timedelta(seconds=1)
LONGEST_TTL = timedelta(days=36_525)

SETTINGS = frozenset(
    {
        "revisionLabels",
        "revisionTtl",
        "revisionExpireTime",
        "disableMemoryRevisions",
        "metadata",
        "metadataMergeStrategy",
        "timeZone",
    }
)
_METADATA_VALUE = frozenset({"stringValue", "doubleValue", "boolValue", "timestampValue"})


def window_settings(fields: Fields) -> WindowSettings:
    """Return what a call says about the memories of its window."""
    labels, values = _labels(fields), metadata(fields)
    check_maps(fields, labels, values)
    return WindowSettings(
        revision_labels=labels,
        revision_expiry=_revision_expiry(fields),
        disable_revisions=reader.boolean(*swap(fields["disableMemoryRevisions"]))
        if "disableMemoryRevisions" in fields
        else None,
        metadata=values,
        merge_strategy=_strategy(fields),
        time_zone=_time_zone(fields),
    )


def _labels(fields: Fields) -> dict[str, str] | None:
    if "revisionLabels" not in fields:
        return None
    return reader.string_map(*swap(fields["revisionLabels"]), most_bytes=MAX_MAP_BYTES)


def metadata(fields: Fields) -> Metadata | None:
    """Return the typed metadata of a message, or None where it has none."""
    if "metadata" not in fields:
        return None
    path, value = fields["metadata"]
    if not isinstance(value, dict):
        raise InvalidArgument(path, "must be a map")
    return {
        reader.text(key, path, most_bytes=MAX_MAP_BYTES): metadata_value(item, reader.join(path, key))
        for key, item in value.items()
    }


def metadata_value(value: Any, path: str) -> MetadataValue:
    """Return a typed metadata value: exactly one of string, double, bool, timestamp."""
    fields = reader.message(value, path, _METADATA_VALUE)
    if len(fields) != 1:
        raise InvalidArgument(path, "must have exactly one of string_value, double_value, bool_value, timestamp_value")
    [(name, (value_path, item))] = fields.items()
    match name:
        case "stringValue":
            return reader.text(item, value_path, most_bytes=MAX_MAP_BYTES)
        case "boolValue":
            return reader.boolean(item, value_path)
        case "timestampValue":
            return reader.instant(item, value_path)
    if isinstance(item, bool) or not isinstance(item, int | float) or abs(item) > 1.7e308:
        raise InvalidArgument(value_path, "must be a number")
    return float(item)


def check_maps(fields: Fields, labels: dict[str, str] | None, values: Metadata | None) -> None:
    """Raise InvalidArgument if labels and metadata are more than an item has room for beside its own."""
    keys = len(labels or {}) + len(values or {})
    path = fields["metadata" if values else "revisionLabels"][0] if keys else ""
    if keys > MAX_MAP_KEYS:
        raise InvalidArgument(path, f"labels and metadata have {keys} keys together; the limit is {MAX_MAP_KEYS}")
    size = len(json.dumps([labels, values], ensure_ascii=False, default=str).encode()) if keys else 0
    if size > MAX_MAP_BYTES:
        raise InvalidArgument(path, f"labels and metadata have {size} bytes together; the limit is {MAX_MAP_BYTES}")


def _revision_expiry(fields: Fields) -> Expiry | None:
    if "revisionTtl" in fields and "revisionExpireTime" in fields:
        raise InvalidArgument(fields["revisionTtl"][0], "revision_ttl and revision_expire_time exclude each other")
    if "revisionTtl" in fields:
        return reader.duration(*swap(fields["revisionTtl"]), least=SHORTEST_TTL, most=LONGEST_TTL)
    return reader.instant(*swap(fields["revisionExpireTime"])) if "revisionExpireTime" in fields else None


def _strategy(fields: Fields) -> MergeStrategy | None:
    path, value = fields.get("metadataMergeStrategy", ("", None))
    if value in (None, "", "METADATA_MERGE_STRATEGY_UNSPECIFIED"):
        return None
    if value not in list(MergeStrategy):
        raise InvalidArgument(path, "must be one of " + ", ".join(MergeStrategy))
    return MergeStrategy(value)


def _time_zone(fields: Fields) -> str | None:
    if "timeZone" not in fields or fields["timeZone"][1] == "":
        return None
    path, value = fields["timeZone"]
    name = reader.text(value, path, most_bytes=64)
    from zoneinfo import ZoneInfo  # reads the zone's file: only for calls that name one

    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise InvalidArgument(path, "must be an IANA time zone such as Europe/Vienna") from error
    return name
