"""Sessions and chat histories."""

from __future__ import annotations

from streambank_client.http.encoding import JsonObject
from streambank_client.types.base import Instant, Shape
from streambank_client.types.events import Content
from streambank_client.types.policies import PolicyFinding


class Session(Shape):
    """A conversation with its state; the keys of *session_state* are the caller's own."""

    name: str
    user_id: str
    create_time: Instant
    update_time: Instant
    expire_time: Instant | None = None
    display_name: str | None = None
    session_state: JsonObject = {}
    labels: dict[str, str] = {}

    @property
    def id(self) -> str:
        """The last part of the name."""
        return self.name.rsplit("/", 1)[-1]


class SessionEvent(Shape):
    """An event of a session; *actions*, *event_metadata* and *raw_event* are as they were sent."""

    name: str
    author: str
    invocation_id: str
    timestamp: Instant
    content: Content | None = None
    actions: JsonObject | None = None
    event_metadata: JsonObject | None = None
    error_code: str | None = None
    error_message: str | None = None
    raw_event: JsonObject | None = None
    content_policy: list[PolicyFinding] = []


class ChatHistory(Shape):
    """A conversation as it was stored; an unknown or expired one has no messages and no etag."""

    conversation_id: str
    messages: list[JsonObject] = []
    format: str = ""
    etag: str | None = None
    update_time: Instant | None = None
    expire_time: Instant | None = None


class AppendedChatHistory(Shape):
    """The result of an append: the etag of the new version, and how many messages the conversation has."""

    conversation_id: str
    etag: str
    message_count: int
    update_time: Instant | None = None
    expire_time: Instant | None = None


class StoredChatHistory(Shape):
    """The result of a store: the etag of the new version, for `if_match`."""

    conversation_id: str
    etag: str
    update_time: Instant | None = None
    expire_time: Instant | None = None
