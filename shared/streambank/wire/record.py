"""The lines of an export: one record each, with its kind and the version of the format (docs/exporting.md)."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from streambank.errors import InvalidArgument
from streambank.model.chat import ChatHistory
from streambank.model.event import Event
from streambank.model.record import (
    BatchRecord,
    ConsentRecord,
    MarkerRecord,
    MemoryRecord,
    Record,
    ReviewRecord,
    SessionEventRecord,
    StreamRecord,
)
from streambank.model.rule import TriggerRule
from streambank.model.session import Session
from streambank.model.stream import StreamId
from streambank.model.transfer import FORMAT_VERSION
from streambank.model.window import Window
from streambank.wire import reader, record_consent, record_conversations, record_reviews, record_shapes, record_streams
from streambank.wire.record_findings import findings_document
from streambank.wire.record_memories import memory_document
from streambank.wire.record_times import time_text
from streambank.wire.reply import without_nulls

# Of one line: a memory with a thousand revisions of 8 KB, each letter of which may be escaped.
MAX_LINE_BYTES = 20_000_000
# What is within 32 levels by itself is a few levels down in a line.
MAX_DEPTH = 48
_READ: dict[str, Callable[[Any, str], Record]] = {
    "memory": lambda body, _: record_shapes.MemoryLine.parse(body).record(),
    "review": lambda body, _: record_reviews.ReviewLine.parse(body).record(),
    "session": lambda body, _: record_shapes.SessionLine.parse(body).record(),
    "sessionEvent": lambda body, _: record_shapes.SessionEventLine.parse(body).record(),
    "chatHistory": lambda body, _: record_shapes.ChatLine.parse(body).record(),
    "consent": lambda body, _: record_consent.ConsentLine.parse(body).record(),
    "stream": lambda body, bank: record_streams.StreamLine.parse(body).record(bank),
    "window": lambda body, bank: record_streams.WindowLine.parse(body).record(bank),
    "events": lambda body, bank: record_streams.EventsLine.parse(body).record(bank),
    "eventMarker": lambda body, bank: record_streams.MarkerLine.parse(body).record(bank),
}


def line(record: Record) -> bytes:
    """Return a record as one line of JSON in UTF-8, its end included."""
    name, to_document = _KINDS[type(record)]
    document = {"kind": name, "version": FORMAT_VERSION, **without_nulls(to_document(record))}
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def read(text: bytes, bank: str) -> Record:
    """Return the record of one line, as one of *bank*.

    Raises:
        InvalidArgument: it is none that this version of the format knows; names the first field that breaks a rule.
    """
    try:
        decoded = text.decode()
    except UnicodeDecodeError as error:
        raise InvalidArgument("", "is not UTF-8") from error
    body = reader.json_body(decoded, is_base64=False, most_bytes=MAX_LINE_BYTES)
    if not isinstance(body, dict):
        raise InvalidArgument("", "must be an object")
    if not reader.depth(body, MAX_DEPTH):
        raise InvalidArgument("", f"is nested more than {MAX_DEPTH} levels deep")
    reader.byte_length(json.dumps(body, ensure_ascii=False), "")
    if body.get("version") != FORMAT_VERSION:
        raise InvalidArgument("version", f"must be {FORMAT_VERSION}")
    if body.get("kind") not in _READ:
        raise InvalidArgument("kind", "must be one of " + ", ".join(_READ))
    fields = {name: value for name, value in body.items() if name not in ("kind", "version")}
    return _READ[body["kind"]](fields, bank)


def kind(record: Record) -> str:
    """Return the name of a record's kind."""
    return _KINDS[type(record)][0]


def counted(record: Record) -> dict[str, int]:
    """Return what a record counts as: one of its kind, its events if it is a batch of them, its revisions too."""
    if isinstance(record, MemoryRecord):
        return {"memories": 1, "revisions": len(record.revisions)}
    return {_COUNTS[kind(record)]: len(record.events) if isinstance(record, BatchRecord) else 1}


# ---- streams


def _place(stream: StreamId) -> dict[str, object]:
    return {"scope": stream.scope, "streamId": stream.name}


def _stream(record: StreamRecord) -> dict[str, object]:
    return {
        **_place(record.stream),
        "events": record.seq,
        "windows": record.window,
        "rule": _rule(record.rule) if record.rule else None,
        "anchorTime": time_text(record.anchor),
        "lastTime": time_text(record.last_arrival),
    }


def _rule(rule: TriggerRule) -> dict[str, object]:
    return without_nulls(
        {
            "eventCount": rule.event_count,
            "tokenCount": rule.token_count,
            "idleDuration": _seconds(rule.idle),
            "fixedInterval": _seconds(rule.interval),
            "overlapEventCount": rule.overlap or None,
        }
    )


def _seconds(span: timedelta | None) -> str | None:
    return None if span is None else f"{int(span.total_seconds())}s"


def _window(window: Window) -> dict[str, object]:
    return {
        **_place(window.stream),
        "window": window.number,
        "firstEvent": window.first_seq,
        "lastEvent": window.last_seq,
        "trigger": window.reason,
        "state": window.state,
        "sealTime": time_text(window.sealed),
        "lastTime": time_text(window.last_arrival),
        "includeToolTraffic": window.settings.include_tool_traffic,
    }


def _events(record: BatchRecord) -> dict[str, object]:
    return {
        **_place(record.stream),
        "firstEvent": record.first,
        "window": record.window,
        "acceptTime": time_text(record.arrived),
        "expireTime": time_text(record.expires),
        "events": [_event(event) for event in record.events],
    }


def _event(event: Event) -> dict[str, object]:
    time = event.time.isoformat() if event.time else None
    content = {"role": event.role, "parts": list(event.parts)}
    findings = findings_document(event.findings)
    return without_nulls({"eventId": event.event_id, "eventTime": time, "content": content, "contentPolicy": findings})


def _marker(record: MarkerRecord) -> dict[str, object]:
    return {
        **_place(record.stream),
        "key": record.key,
        "event": record.seq,
        "window": record.window,
        "fingerprint": b64encode(record.fingerprint).decode() if record.fingerprint else None,
        "expireTime": time_text(record.expires),
        "contentPolicy": findings_document(record.findings),
    }


_KINDS: Mapping[type, tuple[str, Callable[[Any], dict[str, object]]]] = {
    MemoryRecord: ("memory", memory_document),
    ReviewRecord: ("review", record_reviews.review_document),
    Session: ("session", record_conversations.session),
    SessionEventRecord: ("sessionEvent", record_conversations.session_event),
    ChatHistory: ("chatHistory", record_conversations.chat),
    ConsentRecord: ("consent", record_consent.consent_document),
    StreamRecord: ("stream", _stream),
    Window: ("window", _window),
    BatchRecord: ("events", _events),
    MarkerRecord: ("eventMarker", _marker),
}
_COUNTS = {
    "review": "reviews",
    "session": "sessions",
    "sessionEvent": "sessionEvents",
    "chatHistory": "conversations",
    "consent": "consents",
    "stream": "streams",
    "window": "windows",
    "events": "events",
    "eventMarker": "eventMarkers",
}
