"""Where histories are kept: the contract, and one that keeps them in this process."""

from __future__ import annotations

import copy
import itertools
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

from streambank_client.errors import PreconditionFailed

Message: TypeAlias = "dict[str, Any]"


class ChatHistoryProvider(Protocol):
    """Keeps conversations; both methods fail the run where they raise."""

    async def store(self, conversation_id: str, messages: Sequence[Message]) -> None:
        """Replace the whole history of a conversation; an empty one is a conversation too."""

    async def load(self, conversation_id: str) -> list[Message]:
        """Return a conversation's history, `[]` for one that is unknown."""


@dataclass(frozen=True, slots=True)
class VersionedHistory:
    """A history and what its version is called; None where there is no conversation."""

    messages: list[Message]
    version: str | None


@runtime_checkable
class VersionedChatHistoryProvider(Protocol):
    """A provider that can tell whether a conversation is still what was loaded."""

    async def load_version(self, conversation_id: str) -> VersionedHistory:
        """Return a conversation's history and its version."""

    async def store_version(self, conversation_id: str, messages: Sequence[Message], *, replacing: str | None) -> None:
        """Replace version *replacing*, None for a conversation that must not be there.

        Raises:
            PreconditionFailed: it is another version by now; nothing was stored.
        """


class InMemoryChatHistoryProvider:
    """Keeps histories until the process ends; threads and event loops may share it.

    Messages are copied on their way in and out: nobody changes a history but by storing one.
    """

    def __init__(self) -> None:
        self._known: dict[str, VersionedHistory] = {}
        self._versions = itertools.count(1)
        # No await happens under it, so an event loop never waits for more than a look-up in another thread.
        self._lock = threading.Lock()

    async def store(self, conversation_id: str, messages: Sequence[Message]) -> None:
        """Replace the whole history of a conversation."""
        copied = copy.deepcopy(list(messages))
        with self._lock:
            self._put(conversation_id, copied)

    async def load(self, conversation_id: str) -> list[Message]:
        """Return a conversation's history, `[]` for one that is unknown."""
        return (await self.load_version(conversation_id)).messages

    async def load_version(self, conversation_id: str) -> VersionedHistory:
        """Return a conversation's history and its version."""
        with self._lock:
            known = self._known.get(conversation_id, VersionedHistory([], None))
        return VersionedHistory(copy.deepcopy(known.messages), known.version)

    async def store_version(self, conversation_id: str, messages: Sequence[Message], *, replacing: str | None) -> None:
        """Replace one version of a conversation.

        Raises:
            PreconditionFailed: it is another version by now; nothing was stored.
        """
        copied = copy.deepcopy(list(messages))
        with self._lock:
            known = self._known.get(conversation_id)
            if (known and known.version) != replacing:
                raise PreconditionFailed("the conversation was stored or deleted by somebody else since it was loaded")
            self._put(conversation_id, copied)

    async def delete(self, conversation_id: str) -> None:
        """Delete a conversation; an unknown one is deleted already."""
        with self._lock:
            self._known.pop(conversation_id, None)

    def _put(self, conversation_id: str, messages: list[Message]) -> None:
        self._known[conversation_id] = VersionedHistory(messages, str(next(self._versions)))
