"""Chat histories: the caller's own messages, replaced as a whole or appended to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import uuid4

from streambank_client import types
from streambank_client.calls.replies import read_nothing, read_object
from streambank_client.calls.requests import body_fields, header_fields, query_parameters
from streambank_client.calls.resources import ResourcePath
from streambank_client.http.call import Call


def load_chat_history(resource: ResourcePath, /, *, conversation_id: str) -> Call[types.ChatHistory]:
    """Return a conversation; an unknown or expired one has no messages and no etag."""
    return Call(
        method="GET",
        path=_path(resource),
        parse=read_object(types.ChatHistory),
        repeatable=True,
        query=_conversation_query(conversation_id),
    )


def store_chat_history(
    resource: ResourcePath,
    /,
    *,
    conversation_id: str,
    messages: Sequence[Mapping[str, Any]],
    format: str = "",
    if_match: str | None = None,
    if_none_match: str | None = None,
    ttl_seconds: float | None = None,
) -> Call[types.StoredChatHistory]:
    """Replace a whole conversation; an empty one is a conversation too.

    `if_match` is an etag, or "*" for a conversation that must exist; `if_none_match="*"` is for one that must not. With
    an etag or `if_none_match` the call is not repeated when its outcome is unknown: it would be refused because of the
    version that it has stored itself.

    Raises:
        PreconditionFailed: the conversation has another version.
        PayloadTooLarge: it has more than 5 MiB of JSON.
    """
    ttl = None if ttl_seconds is None else timedelta(seconds=ttl_seconds)
    return Call(
        method="PUT",
        path=_path(resource),
        parse=read_object(types.StoredChatHistory),
        repeatable=if_match in (None, "*") and if_none_match is None,
        query=_conversation_query(conversation_id),
        body=body_fields(messages=list(messages), format=format, ttl=ttl),
        headers=header_fields(if_match=if_match, if_none_match=if_none_match),
    )


def append_chat_history(
    resource: ResourcePath,
    /,
    *,
    conversation_id: str,
    messages: Sequence[Mapping[str, Any]],
    format: str = "",
    if_match: str | None = None,
    if_none_match: str | None = None,
    ttl_seconds: float | None = None,
    idempotency_key: str | None = None,
) -> Call[types.AppendedChatHistory]:
    """Put messages behind those of a conversation, all together and once; an unknown one is made.

    Without `format` or `ttl_seconds` those of the conversation stay. The client makes an idempotency key if none is
    given, so the call is repeated also under a condition.

    Raises:
        PreconditionFailed: the conversation has another version.
        PayloadTooLarge: it would have more than 5 MiB of JSON or 10,000 messages.
        AlreadyExists: the idempotency key was used with other messages.
    """
    ttl = None if ttl_seconds is None else timedelta(seconds=ttl_seconds)
    key = idempotency_key or str(uuid4())
    return Call(
        method="POST",
        path=f"{_path(resource)}:append",
        parse=read_object(types.AppendedChatHistory),
        repeatable=True,
        query=_conversation_query(conversation_id),
        body=body_fields(messages=list(messages), format=format, ttl=ttl),
        headers=header_fields(if_match=if_match, if_none_match=if_none_match, x_idempotency_key=key),
    )


def delete_chat_history(resource: ResourcePath, /, *, conversation_id: str, if_match: str | None = None) -> Call[None]:
    """Delete a conversation, only in the version *if_match* if that is given; an unknown one is no error.

    With `if_match` the call is not repeated when its outcome is unknown.

    Raises:
        PreconditionFailed: the conversation has another version.
    """
    return Call(
        method="DELETE",
        path=_path(resource),
        parse=read_nothing,
        repeatable=if_match is None,
        query=_conversation_query(conversation_id),
        headers=header_fields(if_match=if_match),
    )


def _path(resource: ResourcePath) -> str:
    return f"{resource.path}/chatHistory"


def _conversation_query(conversation_id: str) -> dict[str, str]:
    return query_parameters(conversation_id=conversation_id)
