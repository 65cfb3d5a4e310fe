"""Providers of chat histories: the protocols, and one that keeps histories in the memory of the process."""

from __future__ import annotations

import copy
import itertools
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

from streambank_client.errors import PreconditionFailed

ChatMessage: TypeAlias = "dict[str, Any]"


class ChatHistoryProvider(Protocol):
    """Stores and loads conversations; an error of either method fails the run."""

    async def store(self, conversation_id: str, messages: Sequence[ChatMessage]) -> None:
        """Replace the whole history of a conversation; an empty one is a conversation too."""

    async def load(self, conversation_id: str) -> list[ChatMessage]:
        """Return a conversation's history, `[]` for one that is unknown."""


@dataclass(frozen=True, slots=True)
class VersionedHistory:
    """A history and its version, which is None if there is no such conversation."""

    messages: list[ChatMessage]
    version: str | None


@runtime_checkable
class VersionedChatHistoryProvider(Protocol):
    """A provider that can refuse to replace a conversation which has changed since it was loaded."""

    async def load_version(self, conversation_id: str) -> VersionedHistory:
        """Return a conversation's history and its version."""

    async def store_version(
        self, conversation_id: str, messages: Sequence[ChatMessage], *, replacing: str | None
    ) -> None:
        """Replace version *replacing* of a conversation; None is for one that must not exist.

        Raises:
            PreconditionFailed: the conversation has another version; nothing was stored.
        """


class InMemoryChatHistoryProvider:
    """Keeps histories until the process ends; threads and event loops may share it.

    Messages are copied when they are stored and when they are loaded.
    """

    def __init__(self) -> None:
        self._histories: dict[str, VersionedHistory] = {}
        self._versions = itertools.count(1)
        # Nothing is awaited under the lock, so an event loop waits at most for a look-up in another thread.
        self._lock = threading.Lock()

    async def store(self, conversation_id: str, messages: Sequence[ChatMessage]) -> None:
        """Replace the whole history of a conversation."""
        copied = copy.deepcopy(list(messages))
        with self._lock:
            self._put(conversation_id, copied)

    async def load(self, conversation_id: str) -> list[ChatMessage]:
        """Return a conversation's history, `[]` for one that is unknown."""
        return (await self.load_version(conversation_id)).messages

    async def load_version(self, conversation_id: str) -> VersionedHistory:
        """Return a conversation's history and its version."""
        with self._lock:
            history = self._histories.get(conversation_id, VersionedHistory([], None))
        return VersionedHistory(copy.deepcopy(history.messages), history.version)

    async def store_version(
        self, conversation_id: str, messages: Sequence[ChatMessage], *, replacing: str | None
    ) -> None:
        """Replace one version of a conversation.

        Raises:
            PreconditionFailed: the conversation has another version; nothing was stored.
        """
        copied = copy.deepcopy(list(messages))
        with self._lock:
            history = self._histories.get(conversation_id)
            if (history and history.version) != replacing:
                raise PreconditionFailed("the conversation was stored or deleted by another run since it was loaded")
            self._put(conversation_id, copied)

    async def delete(self, conversation_id: str) -> None:
        """Delete a conversation; an unknown one is no error."""
        with self._lock:
            self._histories.pop(conversation_id, None)

    def _put(self, conversation_id: str, messages: list[ChatMessage]) -> None:
        self._histories[conversation_id] = VersionedHistory(messages, str(next(self._versions)))
