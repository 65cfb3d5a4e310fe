"""Chat histories off the wire and onto it; what is inside a message is its caller's own."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from streambank.errors import InvalidArgument, PayloadTooLarge
from streambank.model.chat import ANYTHING, MAX_FORMAT_BYTES, ChatDraft, ChatHistory, Expectation
from streambank.wire import reader
from streambank.wire.ingest import MAX_EVENT_DEPTH, MAX_ID_BYTES
from streambank.wire.settings import LONGEST_TTL, SHORTEST_TTL
from streambank.wire.times import rfc3339, without_nulls

MAX_BODY_BYTES = 5 * 1024 * 1024
# A reply is escaped once more inside Lambda's 6,291,556 bytes: what is taken must also be readable.
MAX_REPLY_BYTES = 6_000_000
MAX_MESSAGES = 10_000
_FIELDS = frozenset({"messages", "format", "ttl"})
_ETAG = re.compile(r'"([\x21\x23-\x7e]{1,128})"')


def conversation_id(query: Mapping[str, str]) -> str:
    """Return the conversation that a request is about, any text of 1 to 512 bytes. Raises InvalidArgument."""
    return reader.text(query.get("conversationId", ""), "conversationId", most_bytes=MAX_ID_BYTES, least_bytes=1)


def expectation(if_match: str | None, if_none_match: str | None) -> Expectation:
    """Return what the headers of a request expect to find. Raises InvalidArgument for more than one expectation."""
    if if_match is not None and if_none_match is not None:
        raise InvalidArgument("If-None-Match", "excludes If-Match")
    if if_none_match is not None:
        if if_none_match.strip() != "*":
            raise InvalidArgument("If-None-Match", "must be *")
        return Expectation(must_be_absent=True)
    return ANYTHING if if_match is None else _match(if_match.strip())


def _match(text: str) -> Expectation:
    found = _ETAG.fullmatch(text)
    if text != "*" and found is None:
        raise InvalidArgument("If-Match", "must be * or one etag in its quotes")
    return Expectation(must_exist=True, version=found and found[1])


def draft(body: Any) -> ChatDraft:
    """Return what the body of a store says. Raises InvalidArgument naming the first field that breaks a rule."""
    fields = reader.message(body, "", _FIELDS)
    if "messages" not in fields:
        raise InvalidArgument("messages", "is required")
    path, label = fields.get("format", ("format", ""))
    return ChatDraft(
        _messages(*fields["messages"]),
        reader.text(label, path, most_bytes=MAX_FORMAT_BYTES),
        reader.duration(*reader.swap(fields["ttl"]), least=SHORTEST_TTL, most=LONGEST_TTL) if "ttl" in fields else None,
    )


def _messages(path: str, value: Any) -> tuple[dict[str, Any], ...]:
    if not isinstance(value, list):
        raise InvalidArgument(path, "must be a list of messages")
    if len(value) > MAX_MESSAGES:
        raise InvalidArgument(path, f"has {len(value)} messages; the limit is {MAX_MESSAGES}")
    for number, message in enumerate(value):
        if not isinstance(message, dict):
            raise InvalidArgument(f"{path}[{number}]", "must be an object")
        if not reader.depth(message, MAX_EVENT_DEPTH):
            raise InvalidArgument(f"{path}[{number}]", f"is nested more than {MAX_EVENT_DEPTH} levels deep")
    _check_size(value, path)
    return tuple(value)


def _check_size(messages: list[Any], path: str) -> None:
    """Refuse what could be stored and not be shown: a quote or a backslash takes two bytes inside a reply."""
    raw = json.dumps(messages, ensure_ascii=False, separators=(",", ":"))
    size = reader.byte_length(raw, path) + raw.count('"') + raw.count("\\")
    if size > MAX_REPLY_BYTES:
        raise PayloadTooLarge(path, f"would take {size} bytes of a reply; the limit is {MAX_REPLY_BYTES}")


def etag(version: str) -> str:
    return f'"{version}"'


def shown(history: ChatHistory) -> dict[str, object]:
    """Return a conversation with its messages as they were sent."""
    return {**stored(history), "messages": list(history.messages), "format": history.format}


def stored(history: ChatHistory) -> dict[str, object]:
    """Return what a store answers: the version that it made."""
    return without_nulls(
        {
            "conversationId": history.conversation_id,
            "etag": etag(history.version),
            "updateTime": rfc3339(history.updated),
            "expireTime": rfc3339(history.expires),
        }
    )


def unknown(conversation_id: str) -> dict[str, object]:
    """Return what is shown of a conversation that nobody stored, or that has expired: no messages, and no etag."""
    return {"conversationId": conversation_id, "messages": []}
