"""Settings that calls give to the memories of a window: labels, expiry, metadata."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar

from streambank.errors import InvalidArgument
from streambank.model.metadata import MergeStrategy, Metadata, MetadataValue
from streambank.model.rule import Expiry, WindowSettings
from streambank.wire import reader
from streambank.wire.reader import Fields

MAX_MAP_KEYS = 64
MAX_MAP_BYTES = 4_096
SHORTEST_TTL = timedelta(seconds=1)
LONGEST_TTL = timedelta(days=36_525)
UNSPECIFIED_STRATEGIES = ("METADATA_MERGE_STRATEGY_UNSPECIFIED", "")

SETTINGS = frozenset(
    {
        "revisionLabels",
        "revisionTtl",
        "revisionExpireTime",
        "disableMemoryRevisions",
        "metadata",
        "metadataMergeStrategy",
        "timeZone",
        "includeToolTraffic",
    }
)
_METADATA_VALUE = frozenset({"stringValue", "doubleValue", "boolValue", "timestampValue"})

T = TypeVar("T")


def window_settings(fields: Fields) -> WindowSettings:
    """Return the settings among the fields of a call."""

    def optional(name: str, read: Callable[[Any, str], T]) -> T | None:
        return read(fields[name][1], fields[name][0]) if name in fields else None

    if "revisionTtl" in fields and "revisionExpireTime" in fields:
        raise InvalidArgument(fields["revisionTtl"][0], "excludes revisionExpireTime")
    settings = WindowSettings(
        revision_labels=optional("revisionLabels", labels),
        revision_expiry=optional("revisionTtl", ttl) or optional("revisionExpireTime", reader.instant),
        disable_revisions=optional("disableMemoryRevisions", reader.boolean),
        metadata=optional("metadata", metadata),
        merge_strategy=optional("metadataMergeStrategy", merge_strategy),
        time_zone=optional("timeZone", time_zone),
        include_tool_traffic=optional("includeToolTraffic", reader.boolean),
    )
    check_maps(settings.revision_labels, settings.metadata)
    return settings


def labels(value: Any, path: str) -> dict[str, str]:
    """Return the labels of revisions."""
    return reader.string_map(value, path, most_bytes=MAX_MAP_BYTES)


def ttl(value: Any, path: str) -> timedelta:
    """Return how long something lives: 1 s to 100 years."""
    return reader.duration(value, path, least=SHORTEST_TTL, most=LONGEST_TTL)


def expiry(lifetime: timedelta | None, end: Any) -> Expiry | None:
    """Return the one of a TTL and an expiry time that is given."""
    return end if lifetime is None else lifetime


def metadata(value: Any, path: str) -> Metadata:
    """Return typed metadata; its keys are the caller's own and are not respelled."""
    if not isinstance(value, dict):
        raise InvalidArgument(path, "must be a map")
    return {
        reader.text(key, path, most_bytes=MAX_MAP_BYTES): metadata_value(item, reader.join(path, key))
        for key, item in value.items()
    }


def metadata_value(value: Any, path: str) -> MetadataValue:
    """Return a typed metadata value: exactly one of string, double, bool, timestamp."""
    fields = reader.object_fields(value, path, _METADATA_VALUE)
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
    if isinstance(item, bool) or not isinstance(item, int | float) or not abs(item) <= 1.7e308:
        raise InvalidArgument(value_path, "must be a number")
    return float(item)


def check_maps(labels: dict[str, str] | None, values: Metadata | None) -> None:
    """Raise InvalidArgument if labels and metadata are larger than an item has room for."""
    keys = len(labels or {}) + len(values or {})
    path = "metadata" if values else "revisionLabels"
    if keys > MAX_MAP_KEYS:
        raise InvalidArgument(path, f"labels and metadata have {keys} keys together; the limit is {MAX_MAP_KEYS}")
    size = len(json.dumps([labels, values], ensure_ascii=False, default=str).encode()) if keys else 0
    if size > MAX_MAP_BYTES:
        raise InvalidArgument(path, f"labels and metadata have {size} bytes together; the limit is {MAX_MAP_BYTES}")


def merge_strategy(value: Any, path: str) -> MergeStrategy | None:
    """Return how metadata is merged, or None where it is unspecified."""
    if value in UNSPECIFIED_STRATEGIES:
        return None
    if value not in list(MergeStrategy):
        raise InvalidArgument(path, "must be one of " + ", ".join(MergeStrategy))
    return MergeStrategy(value)


def time_zone(value: Any, path: str) -> str | None:
    """Return the name of a time zone, or None for an empty one."""
    # zoneinfo reads the interpreter's build configuration when it is imported: 8 ms of a cold start.
    from zoneinfo import ZoneInfo  # noqa: PLC0415

    name = reader.text(value, path, most_bytes=64)
    try:
        if name:
            ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise InvalidArgument(path, "must be an IANA time zone such as Europe/Vienna") from error
    return name or None
