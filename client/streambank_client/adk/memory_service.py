"""ADK's memory service over a bank."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from google.adk.memory import BaseMemoryService
from google.adk.memory.base_memory_service import SearchMemoryResponse

from streambank_client.adk import delivery
from streambank_client.adk.custom_metadata import (
    event_settings,
    is_consolidation_enabled,
    memory_settings,
    timeout_seconds,
    valid_text,
)
from streambank_client.adk.entries import fact_of, pending_entry, revision_labels, to_entry
from streambank_client.adk.session_events import to_events
from streambank_client.banks import AsyncBank, AsyncStreambank
from streambank_client.errors import NotFound
from streambank_client.limits import checked_bank_id, checked_rule, checked_scope
from streambank_client.recall import nearest, requested
from streambank_client.types import GenerationRule, Profile, RetrievedEvent

if TYPE_CHECKING:
    from google.adk.events import Event as AdkEvent
    from google.adk.memory.memory_entry import MemoryEntry
    from google.adk.sessions import Session

    from streambank_client.http.settings import Settings

MAX_QUERY_BYTES = 8_192
_log = logging.getLogger("streambank_client")


class StreambankMemoryService(BaseMemoryService):
    """Memories of an app's users: the scope is `{app_name, user_id}`, and each session is a stream.

    *settings* are those of `AsyncStreambank` (`key`, `token`, ...). *generation_rule* decides when windows are sealed;
    the default is the bank's rule. *include_pending* adds the messages that wait for a generation to the results of a
    search. Event ids are ADK's, so a session can be added any number of times; the service recognizes an id for 90
    days. `custom_metadata` has the settings that ADK's own Memory Bank service reads there; its other values are
    metadata.

    Every method raises ValueError for an app name or a user id that can never be in a scope: it is empty, has more than
    256 bytes or a `*`.

    Raises:
        ValueError: an argument could never work: it is malformed, or beyond the service's limits.
    """

    def __init__(
        self,
        base_url: str,
        *,
        bank: str = "default",
        top_k: int = 10,
        generation_rule: GenerationRule | Mapping[str, Any] | None = None,
        include_pending: bool = True,
        **settings: Unpack[Settings],
    ) -> None:
        self._client = AsyncStreambank(base_url, **settings)
        self._bank = self._client.bank(checked_bank_id(bank))
        self._top_k = top_k
        self._rule = checked_rule(generation_rule)
        self._include_pending = include_pending

    async def add_session_to_memory(self, session: Session) -> None:
        """Send the events of a session; the service ignores those that were sent before.

        An event that the service can never accept is mended, or left out and logged. An event that was edited since
        is stored beside the first one.

        Raises:
            StreambankError: the service cannot be reached, or rejected the request.
        """
        await self.add_events_to_memory(
            app_name=session.app_name, user_id=session.user_id, events=session.events, session_id=session.id
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[AdkEvent],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Send *events* of a session, in order, with the settings and the metadata of *custom_metadata*.

        Raises:
            StreambankError: the service cannot be reached, or rejected the request.
        """
        bank, scope = self._bank_for(custom_metadata), _scope(app_name, user_id)
        settings, converted = event_settings(custom_metadata), to_events(events)
        if settings.generation:
            await delivery.generate(bank, scope, converted, settings)
            return
        rule = settings.generation_rule or self._rule
        stream_id = settings.stream_id or session_id or "default"
        await delivery.ingest(bank, scope, stream_id, converted, settings, generation_rule=rule)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store facts verbatim, with the settings and the metadata of *custom_metadata* and of the entry.

        An entry's id becomes the memory's id; the same id with the same text is stored once. With
        `enable_consolidation` the facts are consolidated with the memories of the scope instead, and have no ids.

        Raises:
            ValueError: there is no entry, or one has no text or media.
            AlreadyExists: an id is taken by another text, or was deleted within 48 hours.
            StreambankError: the service cannot be reached, or rejected the request.
        """
        facts, scope = [fact_of(entry, index) for index, entry in enumerate(memories)], _scope(app_name, user_id)
        if not facts:
            raise ValueError("memories must have at least one entry")
        if is_consolidation_enabled(custom_metadata):
            settings = event_settings(custom_metadata, is_stored=False)
            await delivery.consolidate(self._bank_for(custom_metadata), scope, facts, settings)
            return
        for fact, entry in zip(facts, memories, strict=True):
            values = {**(custom_metadata or {}), **entry.custom_metadata}
            fields = memory_settings(values, revision_labels=revision_labels(entry))
            bank = self._bank_for(values)
            await bank.create_memory(scope=scope, fact=fact, **{"memory_id": entry.id, **fields})

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Return the memories and pending messages nearest to *query*, or the newest memories if the query is blank.

        Raises:
            StreambankError: the service cannot be reached, or rejected the request.
        """
        scope = _scope(app_name, user_id)
        if not query.strip():
            newest = await self._bank.retrieve_memories(scope=scope, top_k=self._top_k)
            return SearchMemoryResponse(memories=[to_entry(result.memory) for result in newest if result.memory.fact])
        retrieved = await self._bank.retrieve_memories(
            scope=scope,
            query=valid_text(query).encode()[:MAX_QUERY_BYTES].decode(errors="ignore"),
            top_k=requested(self._top_k, include_pending=self._include_pending),
            include_pending=self._include_pending,
        )

        def is_known(event: RetrievedEvent) -> bool:
            return event.event.content.text.strip() == query.strip()

        results = nearest(retrieved, self._top_k, is_known=is_known)
        entries = [
            pending_entry(result) if isinstance(result, RetrievedEvent) else to_entry(result.memory)
            for result in results
            if isinstance(result, RetrievedEvent) or result.memory.fact
        ]
        return SearchMemoryResponse(memories=entries)

    async def retrieve_profiles(self, *, app_name: str, user_id: str) -> list[Profile]:
        """Return the profiles of a user, one for each schema of the bank, with `schema_id` and `profile`.

        Raises:
            StreambankError: the service cannot be reached, or rejected the request.
        """
        return [*(await self._bank.retrieve_profiles(scope=_scope(app_name, user_id))).values()]

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Delete a memory of this user by its id; a missing memory is not an error.

        Raises:
            StreambankError: the service cannot be reached, or rejected the request.
        """
        scope = _scope(app_name, user_id)
        if not memory_id:
            return
        try:
            memory = await self._bank.get_memory(memory=memory_id)
            if memory.scope == scope:
                await self._bank.delete_memory(memory=memory_id)
        except NotFound:
            _log.debug("memory to delete is not there")

    def _bank_for(self, values: Mapping[str, object] | None) -> AsyncBank:
        """Return the bank, with the timeout of a call if it has one of its own."""
        seconds = timeout_seconds(values)
        return self._bank if seconds is None else self._bank.with_options(timeout_seconds=seconds)

    async def aclose(self) -> None:
        """Close the running loop's connections."""
        await self._client.aclose()


def _scope(app_name: str, user_id: str) -> dict[str, str]:
    """Return the scope of a user. Raises ValueError if it can never be one."""
    return checked_scope({"app_name": app_name, "user_id": user_id})
