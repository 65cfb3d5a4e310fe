"""IngestEvents requests: every rule and limit of a call, checked before anything is stored."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

from streambank.errors import InvalidArgument
from streambank.model import ids
from streambank.model.event import Event, KeyedEvent, Role
from streambank.model.metadata import MergeStrategy, Metadata, MetadataValue
from streambank.model.rule import Expiry, TriggerRule, WindowSettings
from streambank.model.stream import IngestCall, StreamId
from streambank.wire import reader

MAX_EVENTS = 1_000
MAX_EVENT_BYTES = 350_000
MAX_EVENT_DEPTH = 32
MAX_ID_BYTES = 512
MAX_SCOPE_PAIRS = 5
MAX_SCOPE_BYTES = 256
MAX_MAP_KEYS = 64
MAX_MAP_BYTES = 4_096
MAX_EVENT_COUNT = 10_000
MAX_TIMED_OVERLAP = 100
MINUTE = timedelta(seconds=60)
LONGEST_TRIGGER = timedelta(days=30)
SHORTEST_TTL = timedelta(seconds=1)
LONGEST_TTL = timedelta(days=36_525)

_CALL = frozenset(
    {
        "streamId",
        "scope",
        "directContentsSource",
        "generationTriggerConfig",
        "forceFlush",
        "revisionLabels",
        "revisionTtl",
        "revisionExpireTime",
        "disableMemoryRevisions",
        "metadata",
        "metadataMergeStrategy",
        "timeZone",
    }
)
_SOURCE = frozenset({"events"})
_EVENT = frozenset({"content", "eventId", "eventTime"})
_CONTENT = frozenset({"role", "parts"})
_TRIGGER = frozenset({"generationRule"})
_RULE = frozenset({"eventCount", "idleDuration", "fixedInterval", "overlapEventCount"})
_METADATA_VALUE = frozenset({"stringValue", "doubleValue", "boolValue", "timestampValue"})

Fields = dict[str, tuple[str, Any]]


def ingest_call(body: Any, *, bank: str, idempotency_key: str | None) -> IngestCall:
    """Return the call that *body* makes. Raises InvalidArgument naming the first field that breaks a rule."""
    fields = reader.message(body, "", _CALL)
    scope_path, scope_value = fields.get("scope", ("scope", None))
    checked_scope = scope(scope_value, scope_path)
    name = reader.text(*_swap(fields.get("streamId", ("streamId", ""))), most_bytes=MAX_ID_BYTES) or ids.DEFAULT_STREAM
    stream = StreamId(bank, ids.stream_key(checked_scope, name), checked_scope, name)
    return IngestCall(
        stream=stream,
        events=_events(fields, _idempotency_key(idempotency_key)),
        rule=_trigger(fields),
        force=reader.boolean(*_swap(fields.get("forceFlush", ("forceFlush", False)))),
        settings=window_settings(fields),
    )


def _swap(pair: tuple[str, Any]) -> tuple[Any, str]:
    return pair[1], pair[0]


def _idempotency_key(header: str | None) -> str | None:
    return None if header is None else reader.text(header, "X-Idempotency-Key", least_bytes=1, most_bytes=MAX_ID_BYTES)


def scope(value: Any, path: str) -> dict[str, str]:
    """Return a scope: 1 to 5 pairs of 1 to 256 bytes, no `*` in a value."""
    if not isinstance(value, dict) or not 1 <= len(value) <= MAX_SCOPE_PAIRS:
        raise InvalidArgument(path, f"must be a map of 1 to {MAX_SCOPE_PAIRS} strings")
    for key, item in value.items():
        reader.text(key, path, least_bytes=1, most_bytes=MAX_SCOPE_BYTES)
        reader.text(item, reader.join(path, key), least_bytes=1, most_bytes=MAX_SCOPE_BYTES)
        if "*" in item:
            raise InvalidArgument(reader.join(path, key), "must not contain '*'")
    return dict(value)


# ---- events


def _events(fields: Fields, idempotency_key: str | None) -> tuple[KeyedEvent, ...]:
    if "directContentsSource" not in fields:
        return ()
    path, value = fields["directContentsSource"]
    events_path, events = reader.message(value, path, _SOURCE).get("events", (f"{path}.events", None))
    if not isinstance(events, list) or not events:
        raise InvalidArgument(events_path, "must be a list with at least one event; leave the source out to send none")
    if len(events) > MAX_EVENTS:
        raise InvalidArgument(events_path, f"has {len(events)} events; the limit is {MAX_EVENTS}")
    return tuple(_keyed(value, f"{events_path}[{index}]", index, idempotency_key) for index, value in enumerate(events))


def _keyed(value: Any, path: str, index: int, idempotency_key: str | None) -> KeyedEvent:
    size = _size(value, path)
    event = _event(value, path)
    if event.event_id:
        return KeyedEvent(event, ids.event_key(event.event_id), size)
    derived = ids.derived_event_key(idempotency_key, index) if idempotency_key else None
    return KeyedEvent(event, derived, size)


def _size(value: Any, path: str) -> int:
    """Return the bytes of an event's JSON, the depth checked first so that writing it is safe."""
    if not reader.depth(value, MAX_EVENT_DEPTH):
        raise InvalidArgument(path, f"is nested more than {MAX_EVENT_DEPTH} levels deep")
    size = reader.byte_length(json.dumps(value, ensure_ascii=False, separators=(",", ":")), path)
    if size > MAX_EVENT_BYTES:
        raise InvalidArgument(path, f"has {size} bytes of JSON; the limit is {MAX_EVENT_BYTES}")
    return size


def _event(value: Any, path: str) -> Event:
    fields = reader.message(value, path, _EVENT)
    if "content" not in fields:
        raise InvalidArgument(reader.join(path, "content"), "is required")
    role, parts = content(*_swap(fields["content"]))
    event_id = reader.text(*_swap(fields.get("eventId", ("eventId", ""))), most_bytes=MAX_ID_BYTES)
    time = reader.instant(*_swap(fields["eventTime"])) if "eventTime" in fields else None
    return Event(role, parts, event_id or None, time)


def content(value: Any, path: str) -> tuple[Role, tuple[dict[str, Any], ...]]:
    """Return role and parts of a Content; parts may be of any kind and are kept as they were sent."""
    fields = reader.message(value, path, _CONTENT)
    role_path, role = fields.get("role", (reader.join(path, "role"), "user"))
    if role not in ("user", "model", ""):
        raise InvalidArgument(role_path, "must be a valid role: user, model")
    parts_path, parts = fields.get("parts", (reader.join(path, "parts"), []))
    if not isinstance(parts, list):
        raise InvalidArgument(parts_path, "must be a list")
    for index, part in enumerate(parts):
        _check_part(part, f"{parts_path}[{index}]")
    return "model" if role == "model" else "user", tuple(parts)


def _check_part(part: Any, path: str) -> None:
    if not isinstance(part, dict):
        raise InvalidArgument(path, "must be an object")
    if not isinstance(part.get("text", ""), str | None):
        raise InvalidArgument(reader.join(path, "text"), "must be a string")
    if not isinstance(part.get("thought", False), bool | None):
        raise InvalidArgument(reader.join(path, "thought"), "must be true or false")


# ---- trigger rules


def _trigger(fields: Fields) -> TriggerRule | None:
    """Return the rule that the call names; a config without one, or an empty one, says flush at once."""
    if "generationTriggerConfig" not in fields:
        return None
    path, value = fields["generationTriggerConfig"]
    rule = reader.message(value, path, _TRIGGER).get("generationRule")
    return TriggerRule() if rule is None else trigger_rule(rule[1], rule[0])


def trigger_rule(value: Any, path: str) -> TriggerRule:
    """Return a trigger rule whose conditions may stand together."""
    fields = reader.message(value, path, _RULE)
    if "idleDuration" in fields and "fixedInterval" in fields:
        raise InvalidArgument(path, "idle_duration and fixed_interval exclude each other")
    count = _event_count(fields)
    idle, interval = (_minutes(fields, name) for name in ("idleDuration", "fixedInterval"))
    rule = TriggerRule(count, idle, interval)
    return TriggerRule(count, idle, interval, _overlap(fields, rule))


def _event_count(fields: Fields) -> int | None:
    if "eventCount" not in fields:
        return None
    return reader.integer(*_swap(fields["eventCount"]), least=1, most=MAX_EVENT_COUNT)


def _minutes(fields: Fields, name: str) -> timedelta | None:
    if name not in fields:
        return None
    return reader.duration(*_swap(fields[name]), least=MINUTE, most=LONGEST_TRIGGER, multiple_of=MINUTE)


def _overlap(fields: Fields, rule: TriggerRule) -> int:
    """A carried event is one that was processed before: fewer than fire the window, or it would fire by itself."""
    if "overlapEventCount" not in fields:
        return 0
    path, value = fields["overlapEventCount"]
    if rule.is_empty:
        raise InvalidArgument(path, "overlap needs event_count or a time-based condition beside it")
    most = rule.event_count - 1 if rule.event_count else MAX_TIMED_OVERLAP
    if most == 0:
        raise InvalidArgument(path, "overlap must be less than event_count")
    return reader.integer(value, path, least=1, most=most)


# ---- settings of the window


def window_settings(fields: Fields) -> WindowSettings:
    """Return what a call says about the memories of its window."""
    labels, metadata = _labels(fields), _metadata(fields)
    _check_maps(fields, labels, metadata)
    return WindowSettings(
        revision_labels=labels,
        revision_expiry=_revision_expiry(fields),
        disable_revisions=reader.boolean(*_swap(fields["disableMemoryRevisions"]))
        if "disableMemoryRevisions" in fields
        else None,
        metadata=metadata,
        merge_strategy=_strategy(fields),
        time_zone=_time_zone(fields),
    )


def _labels(fields: Fields) -> dict[str, str] | None:
    if "revisionLabels" not in fields:
        return None
    return reader.string_map(*_swap(fields["revisionLabels"]), most_bytes=MAX_MAP_BYTES)


def _metadata(fields: Fields) -> Metadata | None:
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


def _check_maps(fields: Fields, labels: dict[str, str] | None, metadata: Metadata | None) -> None:
    """They ride on the head of the stream with every call."""
    keys = len(labels or {}) + len(metadata or {})
    path = fields["metadata" if metadata else "revisionLabels"][0] if keys else ""
    if keys > MAX_MAP_KEYS:
        raise InvalidArgument(path, f"labels and metadata have {keys} keys together; the limit is {MAX_MAP_KEYS}")
    size = len(json.dumps([labels, metadata], ensure_ascii=False, default=str).encode()) if keys else 0
    if size > MAX_MAP_BYTES:
        raise InvalidArgument(path, f"labels and metadata have {size} bytes together; the limit is {MAX_MAP_BYTES}")


def _revision_expiry(fields: Fields) -> Expiry | None:
    if "revisionTtl" in fields and "revisionExpireTime" in fields:
        raise InvalidArgument(fields["revisionTtl"][0], "revision_ttl and revision_expire_time exclude each other")
    if "revisionTtl" in fields:
        return reader.duration(*_swap(fields["revisionTtl"]), least=SHORTEST_TTL, most=LONGEST_TTL)
    return reader.instant(*_swap(fields["revisionExpireTime"])) if "revisionExpireTime" in fields else None


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
