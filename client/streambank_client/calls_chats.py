"""Histories of chats: the caller's own messages, replaced as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from streambank_client import types
from streambank_client.calls import Call, Place, fields, headers, nothing, one, texts


def load_chat_history(place: Place, /, *, conversation_id: str) -> Call[types.ChatHistory]:
    """Return a conversation; one that is unknown or has expired has no messages and no etag."""
    return Call(
        method="GET", path=_path(place), parse=one(types.ChatHistory), repeatable=True, query=_asked(conversation_id)
    )


def store_chat_history(
    place: Place,
    /,
    *,
    conversation_id: str,
    messages: Sequence[Mapping[str, Any]],
    format: str = "",
    if_match: str | None = None,
    if_none_match: str | None = None,
    ttl_seconds: float | None = None,
) -> Call[types.StoredChatHistory]:
    """Replace a conversation, all of it or nothing; an empty one is a conversation too.

    `if_match` is an etag, or "*" for one that must be there; `if_none_match="*"` is for one that must not. Under an
    etag or if_none_match a store is not repeated when nobody knows what became of it: the repeat would meet its own
    version.

    Raises PreconditionFailed where there is another version.
    """
    ttl = None if ttl_seconds is None else timedelta(seconds=ttl_seconds)
    return Call(
        method="PUT",
        path=_path(place),
        parse=one(types.StoredChatHistory),
        repeatable=if_match in (None, "*") and if_none_match is None,
        query=_asked(conversation_id),
        body=fields(messages=list(messages), format=format, ttl=ttl),
        headers=headers(if_match=if_match, if_none_match=if_none_match),
    )


def delete_chat_history(place: Place, /, *, conversation_id: str, if_match: str | None = None) -> Call[None]:
    """Delete a conversation, of the version *if_match* where that is given; the unknown one is deleted too.

    Under `if_match` it is not repeated when nobody knows what became of it. Raises PreconditionFailed where there is
    another version.
    """
    return Call(
        method="DELETE",
        path=_path(place),
        parse=nothing,
        repeatable=if_match is None,
        query=_asked(conversation_id),
        headers=headers(if_match=if_match),
    )


def _path(place: Place) -> str:
    return f"{place.path}/chatHistory"


def _asked(conversation_id: str) -> dict[str, str]:
    return texts(conversation_id=conversation_id)
