"""A session of the OpenAI Agents SDK whose items are a chat history of a bank."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from streambank_client import errors
from streambank_client.banks import AsyncBank
from streambank_client.types.sessions import ChatHistory

Item = dict[str, Any]
FORMAT = "openai-agents"
# Each attempt that fails means that another writer succeeded.
MAX_ATTEMPTS = 20


class StreambankSession:
    """The items of one conversation, in their order; several runs and processes may use it at once.

    Each change reads the conversation and replaces it in the version that was read, so that no writer overwrites
    another one. *ttl_seconds* is the time after the last change for which the conversation is kept.

    Methods raise StreambankError where the service fails; Unavailable where other writers win again and again.
    """

    def __init__(self, bank: AsyncBank, session_id: str, *, ttl_seconds: float | None = None) -> None:
        self.session_id = session_id
        # The SDK's own settings of a session; their limit is the default of `get_items`.
        self.session_settings: Any = None
        self._bank = bank
        self._ttl_seconds = ttl_seconds
        self._changing = asyncio.Lock()

    async def get_items(self, limit: int | None = None) -> list[Item]:
        """Return the newest *limit* items, or all of them, oldest first."""
        most = limit if limit is not None else getattr(self.session_settings, "limit", None)
        messages = list((await self._load()).messages)
        if most is None:
            return messages
        return messages[-most:] if most > 0 else []

    async def add_items(self, items: Sequence[Mapping[str, Any]]) -> None:
        """Add items after those that are there: all of them, together, once.

        Raises:
            PayloadTooLarge: the conversation would have more than 5 MiB of JSON.
        """
        added = [dict(item) for item in items]
        if added:
            await self._change(lambda messages: [*messages, *added], _begins_with)

    async def pop_item(self) -> Item | None:
        """Take the newest item away and return it; None if there is none."""
        before = await self._change(lambda messages: messages[:-1], _equals)
        return before[-1] if before else None

    async def clear_session(self) -> None:
        """Delete the conversation."""
        async with self._changing:
            await self._bank.delete_chat_history(conversation_id=self.session_id)

    async def _load(self) -> ChatHistory:
        return await self._bank.load_chat_history(conversation_id=self.session_id)

    async def _change(
        self, change: Callable[[list[Item]], list[Item]], is_applied: Callable[[list[Item], list[Item]], bool]
    ) -> list[Item]:
        """Replace the items by what *change* makes of them, and return those that were there before.

        After an attempt of unknown outcome, *is_applied* decides by the items that are there then, so that a change
        takes effect once.
        """
        async with self._changing:
            unsure: tuple[ChatHistory, list[Item]] | None = None
            for _ in range(MAX_ATTEMPTS):
                history = await self._load()
                if unsure and unsure[0].etag != history.etag and is_applied(history.messages, unsure[1]):
                    return unsure[0].messages
                messages = change(history.messages)
                if messages == history.messages:
                    return history.messages
                try:
                    await self._store(messages, history.etag)
                except errors.PreconditionFailed:
                    continue
                except errors.ConnectionLost as error:
                    if error.outcome_is_unknown:
                        unsure = history, messages
                    continue
                return history.messages
        raise errors.Unavailable("the conversation could not be changed: the service or other writers were in the way")

    async def _store(self, messages: list[Item], etag: str | None) -> None:
        await self._bank.store_chat_history(
            conversation_id=self.session_id,
            messages=messages,
            format=FORMAT,
            if_match=etag,
            if_none_match=None if etag else "*",
            ttl_seconds=self._ttl_seconds,
        )


def _begins_with(messages: list[Item], sent: list[Item]) -> bool:
    return messages[: len(sent)] == sent


def _equals(messages: list[Item], sent: list[Item]) -> bool:
    return messages == sent
