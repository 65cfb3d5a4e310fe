"""Histories in a bank of the service."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Sequence
from typing import TypeVar

from streambank_client.banks import AsyncBank, Bank
from streambank_client.chat.providers import Message, VersionedHistory

T = TypeVar("T")


class StreambankChatHistoryProvider:
    """Keeps histories in a bank: shared by all who reach it, and there after a restart.

    bank: an `AsyncBank`, or a `Bank` for `with` (which would block an event loop).
    format: a label of up to 64 bytes that is kept beside the messages, such as "openai"; nothing here reads it.
    ttl_seconds: how long a conversation is kept after it was stored last; None is for good.
    Every method raises StreambankError where the service refuses the call or cannot be reached.
    """

    def __init__(self, bank: AsyncBank | Bank, *, format: str = "", ttl_seconds: float | None = None) -> None:  # noqa: A002
        self._bank = bank
        self._format = format
        self._ttl_seconds = ttl_seconds

    async def store(self, conversation_id: str, messages: Sequence[Message]) -> None:
        """Replace the whole history of a conversation.

        Raises:
            PayloadTooLarge: it has more than 5 MiB of JSON.
        """
        await self._store(conversation_id, messages)

    async def load(self, conversation_id: str) -> list[Message]:
        """Return a conversation's history, `[]` for one that is unknown or has expired."""
        return (await self.load_version(conversation_id)).messages

    async def load_version(self, conversation_id: str) -> VersionedHistory:
        """Return a conversation's history and its ETag."""
        history = await _awaited(self._bank.load_chat_history(conversation_id=conversation_id))
        return VersionedHistory(list(history.messages), history.etag)

    async def store_version(self, conversation_id: str, messages: Sequence[Message], *, replacing: str | None) -> None:
        """Replace one version of a conversation.

        Raises:
            PreconditionFailed: it is another version by now; nothing was stored.
        """
        if_none_match = "*" if replacing is None else None
        await self._store(conversation_id, messages, if_match=replacing, if_none_match=if_none_match)

    async def delete(self, conversation_id: str) -> None:
        """Delete a conversation; an unknown one is deleted already. What was ingested of it stays."""
        await _awaited(self._bank.delete_chat_history(conversation_id=conversation_id))

    async def _store(
        self,
        conversation_id: str,
        messages: Sequence[Message],
        *,
        if_match: str | None = None,
        if_none_match: str | None = None,
    ) -> None:
        stored = self._bank.store_chat_history(
            conversation_id=conversation_id,
            messages=messages,
            format=self._format,
            if_match=if_match,
            if_none_match=if_none_match,
            ttl_seconds=self._ttl_seconds,
        )
        await _awaited(stored)


async def _awaited(answer: T | Awaitable[T]) -> T:
    """Return the answer of a bank of either kind."""
    return await answer if inspect.isawaitable(answer) else answer
