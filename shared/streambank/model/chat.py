"""Chat histories: a conversation's messages in their caller's own JSON, replaced as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

# Kept for whoever reads a history years later; nobody has as many formats.
MAX_FORMAT_BYTES = 64


@dataclass(frozen=True, slots=True)
class ChatHistory:
    """A conversation; *version* names what one store wrote, and no other store ever has that name."""

    conversation_id: str
    messages: tuple[dict[str, Any], ...]
    format: str
    version: str
    updated: datetime
    expires: datetime | None = None


@dataclass(frozen=True, slots=True)
class ChatDraft:
    """What a caller says of a conversation."""

    messages: tuple[dict[str, Any], ...]
    format: str = ""
    ttl: timedelta | None = None

    def at(self, now: datetime, *, conversation_id: str, version: str) -> ChatHistory:
        """Return the history that the draft is when it is stored at *now*."""
        expires = None if self.ttl is None else now + self.ttl
        return ChatHistory(conversation_id, self.messages, self.format, version, now, expires)


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a caller expects to find: nothing in particular, something, nothing at all, or one version."""

    must_exist: bool = False
    must_be_absent: bool = False
    version: str | None = None

    def holds(self, version: str | None) -> bool:
        """Tell whether *version*, None where there is no conversation, is what was expected."""
        if self.must_be_absent:
            return version is None
        if self.version is not None:
            return version == self.version
        return version is not None or not self.must_exist


ANYTHING = Expectation()
