"""For the OpenAI Agents SDK: a session whose items are a chat history of a bank, and memories in the model's input."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from streambank_client import errors
from streambank_client.banks import AsyncBank
from streambank_client.chat.feeding import Destination, Feed
from streambank_client.chat.new_messages import LoadedMessages
from streambank_client.formats.memory_block import render_memories
from streambank_client.http.drivers import run_async
from streambank_client.limits import checked_scope
from streambank_client.types.sessions import ChatHistory

Item = dict[str, Any]
FORMAT = "openai-agents"
# Each attempt that fails means that another writer succeeded.
MAX_ATTEMPTS = 20
# Of a long text: its first part says what it is about.
_MOST_QUERY_CHARACTERS = 2_000
_log = logging.getLogger("streambank_client")


class StreambankSession:
    """The items of one conversation, in their order; several runs and processes may use it at once.

    Items are appended. Taking one away replaces the conversation in the version that was read, so that no writer
    overwrites another one. *ttl_seconds* is the time after the last change for which the conversation is kept.

    With a *feed* the added items are also sent to a stream, from which the service makes memories; *scope* is the scope
    of these events, by default the feed's. A feed that fails is logged and counted, and fails no run.

    Methods raise StreambankError where the service fails; Unavailable where other writers win again and again.

    Raises:
        ValueError: there is a feed but no scope, or the scope is beyond the service's limits.
    """

    def __init__(
        self,
        bank: AsyncBank,
        session_id: str,
        *,
        ttl_seconds: float | None = None,
        feed: Feed | None = None,
        scope: Mapping[str, str] | None = None,
    ) -> None:
        self.session_id = session_id
        # The SDK's own settings of a session; their limit is the default of `get_items`.
        self.session_settings: Any = None
        self._bank = bank
        self._ttl_seconds = ttl_seconds
        self._feed = feed
        self._scope = scope
        self._changing = asyncio.Lock()
        if feed is not None:
            feed.destination(session_id, scope=scope, run_id="")

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
            PayloadTooLarge: the conversation would have more than 5 MiB of JSON or 10,000 items.
        """
        added = [dict(item) for item in items]
        if not added:
            return
        async with self._changing:
            appended = await self._bank.append_chat_history(
                conversation_id=self.session_id, messages=added, format=FORMAT, ttl_seconds=self._ttl_seconds
            )
        if self._feed is not None:
            await run_async(
                self._feed.send(added, loaded=LoadedMessages(), to=self._destination(self._feed, appended.etag))
            )

    async def pop_item(self) -> Item | None:
        """Take the newest item away and return it; None if there is none."""
        async with self._changing:
            unsure: ChatHistory | None = None
            for _ in range(MAX_ATTEMPTS):
                history = await self._load()
                if unsure and unsure.etag != history.etag and history.messages == unsure.messages[:-1]:
                    return unsure.messages[-1]
                if not history.messages:
                    return None
                try:
                    await self._store(history.messages[:-1], history.etag)
                except errors.PreconditionFailed:
                    continue
                except errors.ConnectionLost as error:
                    unsure = history if error.outcome_is_unknown else unsure
                    continue
                return history.messages[-1]
        raise errors.Unavailable("the conversation could not be changed: the service or other writers were in the way")

    async def clear_session(self) -> None:
        """Delete the conversation; memories that were made of it stay."""
        async with self._changing:
            await self._bank.delete_chat_history(conversation_id=self.session_id)

    def _destination(self, feed: Feed, version: str) -> Destination:
        # Items without an id of their own get one of the append's version, which is never given twice.
        return feed.destination(self.session_id, scope=self._scope, run_id=version.strip('"'))

    async def _load(self) -> ChatHistory:
        return await self._bank.load_chat_history(conversation_id=self.session_id)

    async def _store(self, messages: list[Item], etag: str | None) -> None:
        await self._bank.store_chat_history(
            conversation_id=self.session_id,
            messages=messages,
            format=FORMAT,
            if_match=etag,
            ttl_seconds=self._ttl_seconds,
        )


def recall(
    bank: AsyncBank, *, scope: Mapping[str, str], top_k: int = 5, include_pending: bool = True
) -> Callable[[Any], Awaitable[Any]]:
    """Return a `call_model_input_filter` of `RunConfig`: memories nearest to the user's last text, in the instructions.

    They are in the input of that call of the model alone, so no session stores them and no feed sends them. With
    *include_pending* also messages of which no memories are made yet, but not those that the input has. A search that
    fails is logged, and the model is called without memories.

    Raises:
        ValueError: the scope is beyond the service's limits.
    """
    whose = checked_scope(scope)

    async def filtered(data: Any) -> Any:
        texts = [_text_of(item) for item in data.model_data.input]
        of_user = [_text_of(item) for item in data.model_data.input if item.get("role") == "user"]
        query = next((text for text in reversed(of_user) if text.strip()), "")
        if not query:
            return data.model_data
        try:
            retrieved = await bank.retrieve_memories(
                scope=whose, query=query[:_MOST_QUERY_CHARACTERS], top_k=top_k, include_pending=include_pending
            )
        except errors.StreambankError as error:
            _log.warning("memories not recalled", extra={"error_type": type(error).__name__})
            return data.model_data
        pending = [hit.event.content.text for hit in retrieved.events]
        known = set(texts)
        block = render_memories([*retrieved, *(text for text in pending if text.strip() and text not in known)])
        if not block:
            return data.model_data
        instructions = "\n\n".join(part for part in (data.model_data.instructions, block) if part)
        return dataclasses.replace(data.model_data, instructions=instructions)

    return filtered


def _text_of(item: Mapping[str, Any]) -> str:
    content = item.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") for part in parts if isinstance(part, Mapping))
    return "".join(text for text in texts if isinstance(text, str))
