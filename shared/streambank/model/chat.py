"""Chat histories: the messages of a conversation in the caller's own JSON, replaced as a whole or appended to."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from streambank.model.event import CallMarker

# The format names how to read the messages, also years later.
MAX_FORMAT_BYTES = 64


@dataclass(frozen=True, slots=True)
class ChatHistory:
    """A stored conversation; *version* names one write of it and is never used again."""

    conversation_id: str
    messages: tuple[dict[str, Any], ...]
    format: str
    version: str
    updated: datetime
    expires: datetime | None = None


@dataclass(frozen=True, slots=True)
class ChatDraft:
    """A conversation as a caller sends it."""

    messages: tuple[dict[str, Any], ...]
    format: str = ""
    ttl: timedelta | None = None

    def at(self, now: datetime, *, conversation_id: str, version: str) -> ChatHistory:
        """Return the history to store at *now*."""
        expires = None if self.ttl is None else now + self.ttl
        return ChatHistory(conversation_id, self.messages, self.format, version, now, expires)


@dataclass(frozen=True, slots=True)
class ChatAppend:
    """Messages to append as one block, as a caller sends them; *call* is the marker of its idempotency key.

    Without *format* or *ttl* those of the conversation stay. *version* names the write.
    """

    conversation_id: str
    messages: tuple[dict[str, Any], ...]
    version: str
    format: str = ""
    ttl: timedelta | None = None
    call: CallMarker | None = None


@dataclass(frozen=True, slots=True)
class AppendedChat:
    """What an append made of a conversation: its version, its times, and how many messages it has."""

    conversation_id: str
    version: str
    updated: datetime
    expires: datetime | None
    messages: int


@dataclass(frozen=True, slots=True)
class ChatSize:
    """The size of a list of messages: their number, and the bytes of its JSON, escaped as text and in UTF-8.

    The sum of two sizes is the size of the two lists as one.
    """

    messages: int
    text_bytes: int
    utf8_bytes: int

    def __add__(self, other: ChatSize) -> ChatSize:
        if not self.messages or not other.messages:
            return self if self.messages else other
        # Two pairs of brackets become one, with a comma between; text has one pair of quotes.
        return ChatSize(
            self.messages + other.messages,
            self.text_bytes + other.text_bytes - 3,
            self.utf8_bytes + other.utf8_bytes - 1,
        )

    @property
    def reply_bytes(self) -> int:
        """The bytes of the list inside Lambda's reply, which sends a body as text or in base64."""
        return min(self.text_bytes, 4 * -(-self.utf8_bytes // 3))


@dataclass(frozen=True, slots=True)
class Expectation:
    """The precondition of a write: none, the conversation exists, it does not exist, or it has one version."""

    must_exist: bool = False
    must_be_absent: bool = False
    version: str | None = None

    def holds(self, version: str | None) -> bool:
        """Tell whether the stored *version*, None if there is no conversation, meets the precondition."""
        if self.must_be_absent:
            return version is None
        if self.version is not None:
            return version == self.version
        return version is not None or not self.must_exist


ANYTHING = Expectation()
