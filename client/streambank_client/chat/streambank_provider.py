"""Chat histories in a bank of the service."""

from __future__ import annotations

from collections.abc import Sequence

from streambank_client.banks import AsyncBank, Bank
from streambank_client.chat.providers import ChatMessage, VersionedHistory
from streambank_client.http.drivers import resolve
from streambank_client.limits import checked_format, with_method


class StreambankChatHistoryProvider:
    """Keeps histories in a bank, for all programs that can reach it.

    bank: an `AsyncBank`, or a `Bank` for `with` (it would block an event loop).
    format: a label of up to 64 bytes that is kept with the messages, such as "openai"; it is not read here.
    ttl_seconds: how long a conversation is kept after it was stored last; None is for ever.
    Raises ValueError for a format that is too long, and for an object that is no bank.
    Every method raises StreambankError if the service refuses the call or cannot be reached.
    """

    def __init__(self, bank: AsyncBank | Bank, *, format: str = "", ttl_seconds: float | None = None) -> None:  # noqa: A002
        self._bank = with_method(bank, "bank", "load_chat_history")
        self._format = checked_format(format)
        self._ttl_seconds = ttl_seconds

    async def store(self, conversation_id: str, messages: Sequence[ChatMessage]) -> None:
        """Replace the whole history of a conversation.

        Raises:
            PayloadTooLarge: it has more than 5 MiB of JSON.
        """
        await self._store(conversation_id, messages)

    async def load(self, conversation_id: str) -> list[ChatMessage]:
        """Return a conversation's history, `[]` for one that is unknown or has expired."""
        return (await self.load_version(conversation_id)).messages

    async def load_version(self, conversation_id: str) -> VersionedHistory:
        """Return a conversation's history and its ETag."""
        history = await resolve(self._bank.load_chat_history(conversation_id=conversation_id))
        return VersionedHistory(list(history.messages), history.etag)

    async def store_version(
        self, conversation_id: str, messages: Sequence[ChatMessage], *, replacing: str | None
    ) -> None:
        """Replace one version of a conversation.

        Raises:
            PreconditionFailed: the conversation has another version; nothing was stored.
        """
        if_none_match = "*" if replacing is None else None
        await self._store(conversation_id, messages, if_match=replacing, if_none_match=if_none_match)

    async def delete(self, conversation_id: str) -> None:
        """Delete a conversation; an unknown one is no error. Events that were ingested from it stay."""
        await resolve(self._bank.delete_chat_history(conversation_id=conversation_id))

    async def _store(
        self,
        conversation_id: str,
        messages: Sequence[ChatMessage],
        *,
        if_match: str | None = None,
        if_none_match: str | None = None,
    ) -> None:
        call = self._bank.store_chat_history(
            conversation_id=conversation_id,
            messages=messages,
            format=self._format,
            if_match=if_match,
            if_none_match=if_none_match,
            ttl_seconds=self._ttl_seconds,
        )
        await resolve(call)
