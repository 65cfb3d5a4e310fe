"""The lines of an export: one record each, with its kind and the version of the format (docs/exporting.md)."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from streambank.errors import InvalidArgument
from streambank.model.chat import ChatHistory
from streambank.model.event import Event
from streambank.model.memory import Memory, Revision
from streambank.model.record import BatchRecord, MarkerRecord, MemoryRecord, Record, SessionEventRecord, StreamRecord
from streambank.model.rule import TriggerRule
from streambank.model.session import Session, SessionEvent
from streambank.model.stream import StreamId
from streambank.model.transfer import FORMAT_VERSION
from streambank.model.window import Window
from streambank.wire import reader, record_shapes, record_streams
from streambank.wire.memory import metadata_value
from streambank.wire.reply import without_nulls

# Of one line: a memory with a thousand revisions of 8 KB, each letter of which may be escaped.
MAX_LINE_BYTES = 20_000_000
# What is within 32 levels by itself is a few levels down in a line.
MAX_DEPTH = 48
_READ: dict[str, Callable[[Any, str], Record]] = {
    "memory": lambda body, _: record_shapes.MemoryLine.parse(body).record(),
    "session": lambda body, _: record_shapes.SessionLine.parse(body).record(),
    "sessionEvent": lambda body, _: record_shapes.SessionEventLine.parse(body).record(),
    "chatHistory": lambda body, _: record_shapes.ChatLine.parse(body).record(),
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


# ---- memories


def _memory(record: MemoryRecord) -> dict[str, object]:
    memory = record.memory
    evidence = [{"stream": one.sid, "window": one.window, "events": list(one.seqs)} for one in memory.evidence]
    return {
        "scope": memory.scope,
        "memoryId": memory.id,
        "fact": memory.fact,
        **_times(memory),
        "revision": memory.revision,
        "topics": list(memory.topics) or None,
        "metadata": {key: metadata_value(value) for key, value in memory.metadata.items()} or None,
        "displayName": memory.display_name,
        "description": memory.description,
        "pinned": memory.pinned or None,
        "evidence": evidence or None,
        "profile": _profile(memory),
        "revisions": [_revision(one) for one in record.revisions] or None,
        "citations": _citations(record) or None,
    }


def _times(memory: Memory) -> dict[str, object]:
    return {
        "createTime": _time(memory.created),
        "updateTime": _time(memory.updated),
        "evidenceTime": _time(memory.as_of),
        "expireTime": _time(memory.expires),
    }


def _profile(memory: Memory) -> dict[str, object] | None:
    if memory.profile is None:
        return None
    times = {name: _time(time) for name, time in memory.profile.times.items()}
    return {"schemaId": memory.profile.schema, "times": times}


def _revision(revision: Revision) -> dict[str, object]:
    return without_nulls(
        {
            "number": revision.number,
            "fact": revision.fact,
            "createTime": _time(revision.created),
            "expireTime": _time(revision.expires),
            "labels": revision.labels or None,
            "extracted": list(revision.extracted) or None,
            "isProfile": revision.is_profile or None,
        }
    )


def _citations(record: MemoryRecord) -> list[dict[str, object]]:
    return [
        {
            "stream": one.sid,
            "window": one.window,
            "number": one.number,
            "said": one.text,
            "expireTime": _time(one.expires),
        }
        for one in record.citations
    ]


# ---- sessions and chats


def _session(session: Session) -> dict[str, object]:
    return {
        "sessionId": session.id,
        "userId": session.user_id,
        "createTime": _time(session.created),
        "updateTime": _time(session.updated),
        "first": session.first,
        "last": session.last,
        "displayName": session.display_name,
        "sessionState": session.state or None,
        "labels": session.labels or None,
        "expireTime": _time(session.expires),
    }


def _session_event(record: SessionEventRecord) -> dict[str, object]:
    event: SessionEvent = record.event
    return {
        "sessionId": record.session_id,
        "first": record.first,
        "number": event.number,
        "author": event.author,
        "invocationId": event.invocation_id,
        "timestamp": event.timestamp.isoformat(),
        "content": event.content,
        "actions": event.actions,
        "eventMetadata": event.metadata,
        "errorCode": event.error_code,
        "errorMessage": event.error_message,
        "rawEvent": event.raw,
    }


def _chat(history: ChatHistory) -> dict[str, object]:
    return {
        "conversationId": history.conversation_id,
        "format": history.format or None,
        "updateTime": _time(history.updated),
        "expireTime": _time(history.expires),
        "messages": list(history.messages),
    }


# ---- streams


def _place(stream: StreamId) -> dict[str, object]:
    return {"scope": stream.scope, "streamId": stream.name}


def _stream(record: StreamRecord) -> dict[str, object]:
    return {
        **_place(record.stream),
        "events": record.seq,
        "windows": record.window,
        "rule": _rule(record.rule) if record.rule else None,
        "anchorTime": _time(record.anchor),
        "lastTime": _time(record.last_arrival),
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
        "sealTime": _time(window.sealed),
        "lastTime": _time(window.last_arrival),
        "includeToolTraffic": window.settings.include_tool_traffic,
    }


def _events(record: BatchRecord) -> dict[str, object]:
    return {
        **_place(record.stream),
        "firstEvent": record.first,
        "window": record.window,
        "acceptTime": _time(record.arrived),
        "expireTime": _time(record.expires),
        "events": [_event(event) for event in record.events],
    }


def _event(event: Event) -> dict[str, object]:
    time = event.time.isoformat() if event.time else None
    content = {"role": event.role, "parts": list(event.parts)}
    return without_nulls({"eventId": event.event_id, "eventTime": time, "content": content})


def _marker(record: MarkerRecord) -> dict[str, object]:
    return {
        **_place(record.stream),
        "key": record.key,
        "event": record.seq,
        "window": record.window,
        "fingerprint": b64encode(record.fingerprint).decode() if record.fingerprint else None,
        "expireTime": _time(record.expires),
    }


def _time(instant: datetime | None) -> str | None:
    return None if instant is None else instant.isoformat()


_KINDS: Mapping[type, tuple[str, Callable[[Any], dict[str, object]]]] = {
    MemoryRecord: ("memory", _memory),
    Session: ("session", _session),
    SessionEventRecord: ("sessionEvent", _session_event),
    ChatHistory: ("chatHistory", _chat),
    StreamRecord: ("stream", _stream),
    Window: ("window", _window),
    BatchRecord: ("events", _events),
    MarkerRecord: ("eventMarker", _marker),
}
_COUNTS = {
    "session": "sessions",
    "sessionEvent": "sessionEvents",
    "chatHistory": "conversations",
    "stream": "streams",
    "window": "windows",
    "events": "events",
    "eventMarker": "eventMarkers",
}
