"""A memory service for Google's Agent Development Kit (requires `google-adk`)."""

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
    from streambank_client.types.memories import Memory

# The service's limits for a call and for one event, with room for the rest of the request.
MAX_EVENTS = 1_000
MAX_CALL_BYTES = 3_000_000
MAX_EVENT_BYTES = 350_000
MAX_QUERY_CHARACTERS = 8_000
# The tool by which ADK requests and receives a credential; its calls and results are never stored.
_CREDENTIAL_TOOL = "adk_request_credential"
_log = logging.getLogger("streambank_client")


class StreambankMemoryService(BaseMemoryService):
    """Memories of an app's users: the scope is `{app_name, user_id}`, and each session is a stream.

    *settings* are those of `AsyncStreambank` (`key`, `token`, ...). *generation_rule* decides when windows are sealed;
    the default is the bank's rule. Event ids are ADK's, so a session can be added any number of times; the service
    recognizes an id for 90 days.

    Raises:
        ValueError: the URL, the key or the token is malformed.
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
        """Send the events of a session; the service ignores those that were sent before.

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
        """Send *events* of a session, in order; plain values of *custom_metadata* become metadata of their memories.

        Raises:
            StreambankError: the service cannot be reached, or rejected the request.
        """
        for batch in _batches(filter(None, map(_to_event, events))):
            await self._bank.ingest_events(
                scope=_scope(app_name, user_id),
                stream_id=session_id or "default",
                events=batch,
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
        """Store facts verbatim, once for each entry's id, with the metadata of *custom_metadata* and of the entry.

        Raises:
            ValueError: an entry has no text.
            StreambankError: the service cannot be reached, or rejected the request.
        """
        facts = [_fact(entry) for entry in memories]
        for fact, entry in zip(facts, memories, strict=True):
            metadata = _metadata({**(custom_metadata or {}), **entry.custom_metadata})
            await self._bank.create_memory(
                scope=_scope(app_name, user_id), fact=fact, metadata=metadata, idempotency_key=entry.id
            )

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Return the memories nearest to *query*, or the newest memories if the query is blank.

        Raises:
            StreambankError: the service cannot be reached, or rejected the request.
        """
        results = await self._bank.retrieve_memories(
            scope=_scope(app_name, user_id),
            query=query[:MAX_QUERY_CHARACTERS] if query.strip() else None,
            top_k=self._top_k,
        )
        return SearchMemoryResponse(memories=[_to_entry(result.memory) for result in results if result.memory.fact])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Delete a memory of this user by the id that a search returned; a missing memory is not an error.

        Raises:
            StreambankError: the service cannot be reached, or rejected the request.
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


def _to_event(event: AdkEvent) -> Event | None:
    """Return ADK's event as Streambank's, or None for a fragment, a credential or an event without parts."""
    if event.partial or not event.content or not event.content.parts or _has_credentials(event):
        return None
    content = event.content.model_dump(mode="json", by_alias=True, exclude_none=True)
    # A content with another role or none has the role of its author, who is the user or an agent.
    role = content.get("role") if content.get("role") in ("user", "model") else None
    return Event(
        content=Content.model_validate({**content, "role": role or ("user" if event.author == "user" else "model")}),
        event_id=event.id,
        event_time=datetime.fromtimestamp(event.timestamp, UTC),
    )


def _has_credentials(event: AdkEvent) -> bool:
    tool_parts = [*event.get_function_calls(), *event.get_function_responses()]
    return any(part.name == _CREDENTIAL_TOOL for part in tool_parts)


def _batches(events: Iterable[Event]) -> Iterator[list[Event]]:
    """Yield the events in batches that fit into one call each, without events that are too large."""
    sized = [
        (event, len(json.dumps(event.document(), ensure_ascii=False).encode(errors="replace"))) for event in events
    ]
    accepted = [(event, size_bytes) for event, size_bytes in sized if size_bytes <= MAX_EVENT_BYTES]
    if len(accepted) < len(sized):
        _log.warning("events too large to be kept", extra={"events": len(sized) - len(accepted)})
    for batch in batches(accepted, lambda pair: pair[1], most_events=MAX_EVENTS, most_bytes=MAX_CALL_BYTES):
        yield [event for event, _ in batch]


def _metadata(values: Mapping[str, object] | None) -> dict[str, MetadataValue] | None:
    """Return the values that are valid as metadata."""
    plain = {
        key: value for key, value in (values or {}).items() if isinstance(value, str | bool | int | float | datetime)
    }
    return plain or None


def _fact(entry: MemoryEntry) -> str:
    text = "\n".join(part.text for part in entry.content.parts or () if part.text).strip()
    if not text:
        raise ValueError("a memory entry must have text")
    return text


def _to_entry(memory: Memory) -> MemoryEntry:
    custom_metadata: dict[str, Any] = dict(memory.metadata)
    return MemoryEntry(
        id=memory.id,
        author="user",
        content=genai.Content(role="user", parts=[genai.Part(text=memory.fact)]),
        timestamp=memory.update_time.isoformat(),
        custom_metadata=custom_metadata,
    )
