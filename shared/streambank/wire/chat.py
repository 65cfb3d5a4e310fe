"""Chat histories in requests and replies; the inside of a message is its caller's own."""

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any, NotRequired

from typing_extensions import TypedDict

from streambank.errors import InvalidArgument
from streambank.model import chat as model
from streambank.model import ids
from streambank.model.chat import ANYTHING, MAX_FORMAT_BYTES, AppendedChat, ChatAppend, ChatDraft, Expectation
from streambank.model.event import CallMarker
from streambank.rules import chat_size
from streambank.rules.chat_size import MAX_MESSAGES
from streambank.wire import reader
from streambank.wire.fields import Ttl, text
from streambank.wire.ingest import MAX_EVENT_DEPTH, MAX_ID_BYTES
from streambank.wire.model import Read, RequestModel
from streambank.wire.reply import JsonObject, Time, optional_time, rfc3339, without_nulls

MAX_BODY_BYTES = 5 * 1024 * 1024
_ETAG = re.compile(r'"([\x21\x23-\x7e]{1,128})"')


def conversation_id(query: Mapping[str, str]) -> str:
    """Return the conversation of a request, any text of 1 to 512 bytes. Raises InvalidArgument."""
    return reader.text(query.get("conversationId", ""), "conversationId", most_bytes=MAX_ID_BYTES, least_bytes=1)


def expectation(if_match: str | None, if_none_match: str | None) -> Expectation:
    """Return which version the headers of a request expect. Raises InvalidArgument for more than one expectation."""
    if if_match is not None and if_none_match is not None:
        raise InvalidArgument("If-None-Match", "excludes If-Match")
    if if_none_match is not None:
        if if_none_match.strip() != "*":
            raise InvalidArgument("If-None-Match", "must be *")
        return Expectation(must_be_absent=True)
    return ANYTHING if if_match is None else _if_match(if_match.strip())


def _if_match(value: str) -> Expectation:
    match = _ETAG.fullmatch(value)
    if value != "*" and match is None:
        raise InvalidArgument("If-Match", "must be * or one etag in its quotes")
    return Expectation(must_exist=True, version=match and match[1])


def _messages(value: Any, path: str) -> tuple[JsonObject, ...]:
    if not isinstance(value, list) or len(value) > MAX_MESSAGES:
        raise InvalidArgument(path, f"must be a list of at most {MAX_MESSAGES} messages")
    for number, message in enumerate(value):
        if not isinstance(message, dict):
            raise InvalidArgument(f"{path}[{number}]", "must be an object")
        if not reader.depth(message, MAX_EVENT_DEPTH):
            raise InvalidArgument(f"{path}[{number}]", f"is nested more than {MAX_EVENT_DEPTH} levels deep")
    reader.byte_length(json.dumps(value, ensure_ascii=False), "")
    chat_size.check_size(chat_size.size_of(value))
    return tuple(value)


def _some_messages(value: Any, path: str) -> tuple[JsonObject, ...]:
    if value == []:
        raise InvalidArgument(path, "must have at least one message")
    return _messages(value, path)


_MESSAGES_SCHEMA: JsonObject = {
    "type": "array",
    "maxItems": MAX_MESSAGES,
    "items": {"type": "object", "additionalProperties": True},
}


class StoreChatHistoryRequest(RequestModel):
    """Messages are any objects, 32 levels deep at most."""

    messages: Annotated[tuple[JsonObject, ...], Read(_messages, _MESSAGES_SCHEMA)]
    format: Annotated[str, text(MAX_FORMAT_BYTES, examples=["openai", "koog-1"])] = ""
    ttl: Ttl | None = None

    def draft(self) -> ChatDraft:
        """Return the history that is to be stored."""
        return ChatDraft(self.messages, self.format, self.ttl)


class AppendChatHistoryRequest(RequestModel):
    """Messages to put behind those of a conversation, together and in their order."""

    messages: Annotated[tuple[JsonObject, ...], Read(_some_messages, {**_MESSAGES_SCHEMA, "minItems": 1})]
    format: Annotated[str, text(MAX_FORMAT_BYTES, examples=["openai", "koog-1"])] = ""
    ttl: Ttl | None = None

    def append(self, conversation_id: str, *, version: str, idempotency_key: str | None) -> ChatAppend:
        """Return the append, which *version* names."""
        call = CallMarker(ids.call_key(idempotency_key), self.body_fingerprint()) if idempotency_key else None
        return ChatAppend(conversation_id, self.messages, version, self.format, self.ttl, call)


class AppendedChatHistory(TypedDict):
    conversationId: str
    etag: str
    updateTime: Time
    expireTime: NotRequired[Time | None]
    messageCount: int


class StoredChatHistory(TypedDict):
    conversationId: str
    etag: str
    updateTime: Time
    expireTime: NotRequired[Time | None]


class ChatHistory(TypedDict):
    """A conversation that is unknown or has expired has no messages, no etag and no times."""

    conversationId: str
    messages: list[JsonObject]
    format: NotRequired[str]
    etag: NotRequired[str]
    updateTime: NotRequired[Time]
    expireTime: NotRequired[Time | None]


def etag(version: str) -> str:
    """Return the etag of a version."""
    return f'"{version}"'


def chat_history(history: model.ChatHistory) -> ChatHistory:
    """Return a conversation with its messages as they were sent."""
    return without_nulls(
        ChatHistory(
            conversationId=history.conversation_id,
            etag=etag(history.version),
            updateTime=rfc3339(history.updated),
            expireTime=optional_time(history.expires),
            messages=list(history.messages),
            format=history.format,
        )
    )


def stored(history: model.ChatHistory) -> StoredChatHistory:
    """Return the reply to a store: the version that it made."""
    return without_nulls(
        StoredChatHistory(
            conversationId=history.conversation_id,
            etag=etag(history.version),
            updateTime=rfc3339(history.updated),
            expireTime=optional_time(history.expires),
        )
    )


def appended(chat: AppendedChat) -> AppendedChatHistory:
    """Return the reply to an append: the version that it made."""
    return without_nulls(
        AppendedChatHistory(
            conversationId=chat.conversation_id,
            etag=etag(chat.version),
            updateTime=rfc3339(chat.updated),
            expireTime=optional_time(chat.expires),
            messageCount=chat.messages,
        )
    )


def unknown(conversation_id: str) -> ChatHistory:
    """Return the reply for a conversation that was never stored, or has expired: no messages, and no etag."""
    return ChatHistory(conversationId=conversation_id, messages=[])
