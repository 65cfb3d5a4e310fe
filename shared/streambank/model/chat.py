"""Chat histories: the messages of a conversation in the caller's own JSON, replaced as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

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
