"""IngestEvents requests: every rule and limit of a call, checked before anything is stored.

`ingest_model.IngestEventsRequest` describes the same body; a test compares both.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from datetime import timedelta
from typing import Any

from streambank.errors import InvalidArgument
from streambank.model import ids
from streambank.model.event import CallMarker, Event, KeyedEvent, Role
from streambank.model.rule import TriggerRule
from streambank.model.stream import IngestCall, StreamId
from streambank.wire import reader
from streambank.wire.reader import Fields, swap
from streambank.wire.settings import SETTINGS, window_settings

MAX_EVENTS = 1_000
MAX_EVENT_BYTES = 350_000
MAX_EVENT_DEPTH = 32
MAX_ID_BYTES = 512
MAX_SCOPE_PAIRS = 5
MAX_SCOPE_BYTES = 256
MAX_EVENT_COUNT = 10_000
MAX_TOKEN_COUNT = 1_000_000
MAX_TIMED_OVERLAP = 100
MINUTE = timedelta(seconds=60)
LONGEST_TRIGGER = timedelta(days=30)

_CALL = SETTINGS | {"streamId", "scope", "directContentsSource", "generationTriggerConfig", "forceFlush"}
_SOURCE = frozenset({"events"})
_EVENT = frozenset({"content", "eventId", "eventTime"})
_CONTENT = frozenset({"role", "parts"})
_TRIGGER = frozenset({"generationRule"})
_RULE = frozenset({"eventCount", "tokenCount", "idleDuration", "fixedInterval", "overlapEventCount"})


def ingest_call(body: Any, *, bank: str, idempotency_key: str | None) -> IngestCall:
    """Return the call that *body* makes. Raises InvalidArgument naming the first field that breaks a rule."""
    fields = reader.object_fields(body, "", _CALL)
    scope_path, scope_value = fields.get("scope", ("scope", None))
    checked_scope = scope(scope_value, scope_path)
    name = reader.text(*swap(fields.get("streamId", ("streamId", ""))), most_bytes=MAX_ID_BYTES) or ids.DEFAULT_STREAM
    stream = StreamId(bank, ids.stream_key(checked_scope, name), checked_scope, name)
    token = idempotency_token(idempotency_key)
    source = fields.get("directContentsSource")
    call = IngestCall(
        stream=stream,
        events=events(source[1], source[0], token) if source else (),
        rule=_trigger(fields),
        force=reader.boolean(*swap(fields.get("forceFlush", ("forceFlush", False)))),
        settings=window_settings(fields),
    )
    return replace(call, marker=_marker(token, call)) if token else call


def _marker(token: str, call: IngestCall) -> CallMarker:
    """Return the marker of a call with an idempotency key, which counts within the call's stream."""
    return CallMarker(ids.call_key(token), call_fingerprint(call))


def call_fingerprint(call: IngestCall) -> bytes:
    """Return a hash of everything that *call* says."""
    rule = asdict(call.rule) if call.rule else None
    whole = [[keyed.canonical() for keyed in call.events], rule, call.force, asdict(call.settings)]
    return ids.fingerprint(whole)


def idempotency_token(header: str | None) -> str | None:
    return None if header is None else reader.text(header, "X-Idempotency-Key", least_bytes=1, most_bytes=MAX_ID_BYTES)


def scope(value: Any, path: str) -> dict[str, str]:
    """Return a scope: 1 to 5 pairs of 1 to 256 bytes, no `*` in a value."""
    if not isinstance(value, dict) or not 1 <= len(value) <= MAX_SCOPE_PAIRS:
        raise InvalidArgument(path, f'must be a map of 1 to {MAX_SCOPE_PAIRS} strings such as {{"user_id": "123"}}')
    for key, item in value.items():
        reader.text(key, path, least_bytes=1, most_bytes=MAX_SCOPE_BYTES)
        reader.text(item, reader.join(path, key), least_bytes=1, most_bytes=MAX_SCOPE_BYTES)
        if "*" in item:
            raise InvalidArgument(reader.join(path, key), "must not contain '*'")
    return dict(value)


# ---- events


def events(value: Any, path: str, idempotency_key: str | None = None) -> tuple[KeyedEvent, ...]:
    """Return the events of a `directContentsSource`, each with the key that it is deduplicated by."""
    events_path, events = reader.object_fields(value, path, _SOURCE).get("events", (f"{path}.events", None))
    if not isinstance(events, list) or not events:
        raise InvalidArgument(events_path, "must be a list with at least one event; leave the source out to send none")
    if len(events) > MAX_EVENTS:
        raise InvalidArgument(events_path, f"has {len(events)} events; the limit is {MAX_EVENTS}")
    return tuple(_keyed(value, f"{events_path}[{index}]", index, idempotency_key) for index, value in enumerate(events))


def _keyed(value: Any, path: str, index: int, idempotency_key: str | None) -> KeyedEvent:
    size = _size(value, path)
    event = event_of(value, path)
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


def event_of(value: Any, path: str) -> Event:
    """Return an event whose size and depth are known to be in bounds."""
    fields = reader.object_fields(value, path, _EVENT)
    if "content" not in fields:
        raise InvalidArgument(reader.join(path, "content"), "is required")
    role, parts = content(*swap(fields["content"]))
    event_id = reader.text(*swap(fields.get("eventId", ("eventId", ""))), most_bytes=MAX_ID_BYTES)
    time = reader.instant(*swap(fields["eventTime"])) if "eventTime" in fields else None
    return Event(role, parts, event_id or None, time)


def content(value: Any, path: str) -> tuple[Role, tuple[dict[str, Any], ...]]:
    """Return role and parts of a content."""
    if not isinstance(value, dict):
        raise InvalidArgument(path, _hints().content(value))
    fields = reader.object_fields(value, path, _CONTENT)
    role_path, role = fields.get("role", (reader.join(path, "role"), "user"))
    if role not in ("user", "model", ""):
        raise InvalidArgument(role_path, _hints().role(role))
    parts_path, value = fields.get("parts", (reader.join(path, "parts"), []))
    return "model" if role == "model" else "user", tuple(parts(value, parts_path))


def parts(value: Any, path: str) -> list[dict[str, Any]]:
    """Return the parts of a content; they may be of any kind and are kept as they were sent."""
    if not isinstance(value, list):
        raise InvalidArgument(path, _hints().parts(value))
    for index, part in enumerate(value):
        _check_part(part, f"{path}[{index}]")
    return value


def _check_part(part: Any, path: str) -> None:
    if not isinstance(part, dict):
        raise InvalidArgument(path, 'must be an object such as {"text": "..."}')
    if not isinstance(part.get("text", ""), str | None):
        raise InvalidArgument(reader.join(path, "text"), "must be a string")
    if not isinstance(part.get("thought", False), bool | None):
        raise InvalidArgument(reader.join(path, "thought"), "must be true or false")


def _hints() -> Any:
    # Only a refusal needs it: it would add to the cold start of the function `Ingest`.
    from streambank.wire import hints  # noqa: PLC0415

    return hints


# ---- trigger rules


def _trigger(fields: Fields) -> TriggerRule | None:
    """Return the rule of the call; a config without one, or an empty rule, means flush at once."""
    if "generationTriggerConfig" not in fields:
        return None
    path, value = fields["generationTriggerConfig"]
    rule = reader.object_fields(value, path, _TRIGGER).get("generationRule")
    return TriggerRule() if rule is None else trigger_rule(rule[1], rule[0])


def trigger_rule(value: Any, path: str) -> TriggerRule:
    """Return a trigger rule whose conditions may stand together."""
    fields = reader.object_fields(value, path, _RULE)
    if "idleDuration" in fields and "fixedInterval" in fields:
        raise InvalidArgument(path, "idle_duration and fixed_interval exclude each other")
    events, tokens = _count(fields, "eventCount", MAX_EVENT_COUNT), _count(fields, "tokenCount", MAX_TOKEN_COUNT)
    idle, interval = (_minutes(fields, name) for name in ("idleDuration", "fixedInterval"))
    rule = TriggerRule(events, idle, interval, token_count=tokens)
    return replace(rule, overlap=_overlap(fields, rule))


def _count(fields: Fields, name: str, most: int) -> int | None:
    return reader.integer(*swap(fields[name]), least=1, most=most) if name in fields else None


def _minutes(fields: Fields, name: str) -> timedelta | None:
    if name not in fields:
        return None
    return reader.duration(*swap(fields[name]), least=MINUTE, most=LONGEST_TRIGGER, multiple_of=MINUTE)


def _overlap(fields: Fields, rule: TriggerRule) -> int:
    """Overlap must be less than the count: otherwise the carried events alone would seal the next window."""
    if "overlapEventCount" not in fields:
        return 0
    path, value = fields["overlapEventCount"]
    if rule.is_empty:
        raise InvalidArgument(path, "overlap needs event_count, token_count or a time-based condition beside it")
    most = rule.event_count - 1 if rule.event_count else MAX_TIMED_OVERLAP
    if most == 0:
        raise InvalidArgument(path, "overlap must be less than event_count")
    return reader.integer(value, path, least=1, most=most)
