"""A memory service for Google's Agent Development Kit; needs `google-adk`."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Unpack

from google.adk.memory import BaseMemoryService
from google.adk.memory.base_memory_service import SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.genai import types as genai

from streambank_client.banks import AsyncStreambank
from streambank_client.errors import NotFound
from streambank_client.http.batching import batches
from streambank_client.types.events import Content, Event, GenerationRule

if TYPE_CHECKING:
    from google.adk.events import Event as AdkEvent
    from google.adk.sessions import Session

    from streambank_client.http.encoding import MetadataValue
    from streambank_client.http.settings import Settings
    from streambank_client.types.memories import RetrievedMemory

# What the service takes in a call and of one event, with room for what stands around the events.
MAX_EVENTS = 1_000
MAX_CALL_BYTES = 3_000_000
MAX_EVENT_BYTES = 350_000
MAX_QUERY_CHARACTERS = 8_000
# The calls by which ADK asks for a credential and is given one: never kept.
_CREDENTIALS = "adk_request_credential"
_log = logging.getLogger("streambank_client")


class StreambankMemoryService(BaseMemoryService):
    """Memories of an app's users: the scope is `{app_name, user_id}`, each session a stream.

    *settings* are those of `AsyncStreambank` (`key`, `token`, ...). Windows are sealed by *generation_rule*, without
    one by the bank's. Event ids are ADK's, so that sessions may be added any number of times; the service knows ids
    for 90 days.

    Raises:
        ValueError: the URL, the key or the token cannot be one.
    """

    def __init__(
        self,
        base_url: str,
        *,
        bank: str = "default",
        top_k: int = 10,
        generation_rule: GenerationRule | None = None,
        **settings: Unpack[Settings],
    ) -> None:
        self._client = AsyncStreambank(base_url, **settings)
        self._bank = self._client.bank(bank)
        self._top_k = top_k
        self._rule = generation_rule

    async def add_session_to_memory(self, session: Session) -> None:
        """Send the events of a session; those that were sent before are known.

        Raises:
            StreambankError: the service could not be asked, or refused.
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
        """Send some events of a session, in order; *custom_metadata* of plain values is that of their memories.

        Raises:
            StreambankError: the service could not be asked, or refused.
        """
        for some in _calls(filter(None, map(_event, events))):
            await self._bank.ingest_events(
                scope=_scope(app_name, user_id),
                stream_id=session_id or "default",
                events=some,
                generation_rule=self._rule,
                metadata=_metadata(custom_metadata),
            )

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store facts as they are, once for each id of an entry; their metadata is *custom_metadata* and the entry's.

        Raises:
            ValueError: an entry has no text.
            StreambankError: the service could not be asked, or refused.
        """
        facts = [_text(entry) for entry in memories]
        for fact, entry in zip(facts, memories, strict=True):
            metadata = _metadata({**(custom_metadata or {}), **entry.custom_metadata})
            await self._bank.create_memory(
                scope=_scope(app_name, user_id), fact=fact, metadata=metadata, idempotency_key=entry.id
            )

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Return the memories that are nearest to *query*; of a blank one, the newest.

        Raises:
            StreambankError: the service could not be asked, or refused.
        """
        asked = query[:MAX_QUERY_CHARACTERS] if query.strip() else None
        found = await self._bank.retrieve_memories(scope=_scope(app_name, user_id), query=asked, top_k=self._top_k)
        return SearchMemoryResponse(memories=[_entry(one) for one in found if one.memory.fact])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Delete a memory of this user's by the id that a search gave; one that is not there is deleted too.

        Raises:
            StreambankError: the service could not be asked, or refused.
        """
        if not memory_id:
            return
        try:
            memory = await self._bank.get_memory(memory=memory_id)
            if memory.scope == _scope(app_name, user_id):
                await self._bank.delete_memory(memory=memory_id)
        except NotFound:
            _log.debug("memory to delete is not there")

    async def aclose(self) -> None:
        """Close the running loop's connections."""
        await self._client.aclose()


def _scope(app_name: str, user_id: str) -> dict[str, str]:
    return {"app_name": app_name, "user_id": user_id}


def _event(event: AdkEvent) -> Event | None:
    """Return an event of a session as ours, or None for one that says nothing: fragments, credentials, mere state."""
    if event.partial or not event.content or not event.content.parts or _is_about_credentials(event):
        return None
    said = event.content.model_dump(mode="json", by_alias=True, exclude_none=True)
    # A content without a role of ours is its author's: the user's, or an agent's.
    role = said.get("role") if said.get("role") in ("user", "model") else None
    return Event(
        content=Content.model_validate({**said, "role": role or ("user" if event.author == "user" else "model")}),
        event_id=event.id,
        event_time=datetime.fromtimestamp(event.timestamp, UTC),
    )


def _is_about_credentials(event: AdkEvent) -> bool:
    named = [*event.get_function_calls(), *event.get_function_responses()]
    return any(one.name == _CREDENTIALS for one in named)


def _calls(events: Iterable[Event]) -> Iterator[list[Event]]:
    """Yield the events in the order and in the numbers in which calls take them; one that none takes is left out."""
    weighed = [
        (event, len(json.dumps(event.document(), ensure_ascii=False).encode(errors="replace"))) for event in events
    ]
    kept = [one for one in weighed if one[1] <= MAX_EVENT_BYTES]
    if len(kept) < len(weighed):
        _log.warning("events too large to be kept", extra={"events": len(weighed) - len(kept)})
    for call in batches(kept, lambda one: one[1], most_events=MAX_EVENTS, most_bytes=MAX_CALL_BYTES):
        yield [event for event, _ in call]


def _metadata(values: Mapping[str, object] | None) -> dict[str, MetadataValue] | None:
    """Return the values that metadata can be."""
    plain = {
        key: value for key, value in (values or {}).items() if isinstance(value, str | bool | int | float | datetime)
    }
    return plain or None


def _text(entry: MemoryEntry) -> str:
    text = "\n".join(part.text for part in entry.content.parts or () if part.text).strip()
    if not text:
        raise ValueError("a memory must have a text")
    return text


def _entry(found: RetrievedMemory) -> MemoryEntry:
    memory = found.memory
    custom: dict[str, Any] = dict(memory.metadata)
    return MemoryEntry(
        id=memory.id,
        author="user",
        content=genai.Content(role="user", parts=[genai.Part(text=memory.fact)]),
        timestamp=memory.update_time.isoformat(),
        custom_metadata=custom,
    )
