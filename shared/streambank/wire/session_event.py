"""Session events off the wire and onto it: fields in either spelling, what is inside maps as it was sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from streambank.errors import InvalidArgument
from streambank.model.session import SessionEvent
from streambank.wire import reader
from streambank.wire.ingest import MAX_EVENT_BYTES, MAX_ID_BYTES
from streambank.wire.ingest import content as checked_content
from streambank.wire.session import check_size, json_object
from streambank.wire.times import rfc3339, without_nulls

_EVENT = frozenset(
    {
        "name",
        "author",
        "invocationId",
        "timestamp",
        "content",
        "actions",
        "eventMetadata",
        "errorCode",
        "errorMessage",
        "rawEvent",
    }
)
_CONTENT = frozenset({"role", "parts"})

Check = Callable[[Any, str], Any]


def session_event(body: Any) -> SessionEvent:
    """Return the event that *body* appends. Raises InvalidArgument naming the first field that breaks a rule."""
    fields = reader.message(body, "", _EVENT)
    check_size(body, "", most_bytes=MAX_EVENT_BYTES)
    for name in ("author", "invocationId", "timestamp"):
        if name not in fields:
            raise InvalidArgument(name, "is required")

    def read(name: str, check: Check) -> Any:
        return check(fields[name][1], fields[name][0]) if name in fields else None

    return SessionEvent(
        author=read("author", _short),
        invocation_id=read("invocationId", _short),
        timestamp=read("timestamp", reader.instant),
        content=read("content", _content),
        actions=read("actions", _actions),
        metadata=read("eventMetadata", _metadata),
        error_code=read("errorCode", _text),
        error_message=read("errorMessage", _text),
        raw=read("rawEvent", json_object),
    )


def _short(value: Any, path: str) -> str:
    return reader.text(value, path, least_bytes=1, most_bytes=MAX_ID_BYTES)


def _text(value: Any, path: str) -> str:
    return reader.text(value, path, most_bytes=MAX_EVENT_BYTES)


def _content(value: Any, path: str) -> dict[str, Any]:
    """A session holds contents of any role; their parts keep the rules of ingested ones."""
    fields = reader.message(value, path, _CONTENT)
    checked_content({name: pair[1] for name, pair in fields.items() if name == "parts"}, path)
    if "role" in fields:
        _text(fields["role"][1], fields["role"][0])
    return {name: pair[1] for name, pair in fields.items()}


def _texts(value: Any, path: str) -> list[str]:
    if not isinstance(value, list):
        raise InvalidArgument(path, "must be a list of strings")
    return [_text(item, f"{path}[{index}]") for index, item in enumerate(value)]


def _versions(value: Any, path: str) -> dict[str, Any]:
    for key, version in json_object(value, path).items():
        reader.integer(version, reader.join(path, key), least=0, most=2**31 - 1)
    return json_object(value, path)


# What is checked here would make an event unreadable to Google's SDK, whose types are as strict.
_ACTIONS: dict[str, Check] = {
    "skipSummarization": reader.boolean,
    "stateDelta": json_object,
    "artifactDelta": _versions,
    "transferAgent": _text,
    "escalate": reader.boolean,
    "requestedAuthConfigs": json_object,
}
_METADATA: dict[str, Check] = {
    "groundingMetadata": json_object,
    "partial": reader.boolean,
    "turnComplete": reader.boolean,
    "interrupted": reader.boolean,
    "longRunningToolIds": _texts,
    "branch": _text,
    "customMetadata": json_object,
    "inputTranscription": json_object,
    "outputTranscription": json_object,
}


def _actions(value: Any, path: str) -> dict[str, Any]:
    return _checked(value, path, _ACTIONS)


def _metadata(value: Any, path: str) -> dict[str, Any]:
    return _checked(value, path, _METADATA)


def _checked(value: Any, path: str, checks: dict[str, Check]) -> dict[str, Any]:
    fields = reader.message(value, path, frozenset(checks))
    return {name: checks[name](item, item_path) for name, (item_path, item) in fields.items()}


def shown(event: SessionEvent, session_name: str) -> dict[str, object]:
    """Return an event."""
    return without_nulls(
        {
            "name": f"{session_name}/events/{event.number}",
            "author": event.author,
            "invocationId": event.invocation_id,
            "timestamp": rfc3339(event.timestamp),
            "content": event.content,
            "actions": event.actions,
            "eventMetadata": event.metadata,
            "errorCode": event.error_code,
            "errorMessage": event.error_message,
            "rawEvent": event.raw,
        }
    )
