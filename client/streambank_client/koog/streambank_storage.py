"""The service as a storage: records are its events, and what it remembers of them is found."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, TypeAlias
from uuid import uuid4

from streambank_client.banks import AsyncBank, Bank
from streambank_client.errors import InvalidArgument, NotFound
from streambank_client.formats.conversion import MAX_CONTENT_BYTES
from streambank_client.http.batching import batches, is_caused_by_event
from streambank_client.koog.records import MemoryRecord, SearchRequest, SearchResult, TextDocument
from streambank_client.koog.steps import Ask, Steps, drive, drive_async
from streambank_client.types import MetadataValue
from streambank_client.types.events import Content, Event, GenerationRule, Part
from streambank_client.types.memories import Memory, RetrievedMemory

NAMESPACE_KEY = "namespace"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_YEAR_10000_MS = 253_402_300_800_000
# A call takes 1,000 events and 4 MB; an event's id and times are little beside its text.
_MOST_EVENTS = 100
_MOST_BYTES = 2_000_000
_MOST_QUERY_BYTES = 8_192
_log = logging.getLogger("streambank_client")
Rule: TypeAlias = GenerationRule | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Target:
    """Where records go, and what is said with each call."""

    bank: Any
    scope: Mapping[str, str]
    stream_id: str
    generation_rule: Rule | None
    metadata: Mapping[str, MetadataValue] | None

    def scope_of(self, namespace: str | None) -> dict[str, str]:
        """Return the scope of a namespace: it is one more key."""
        if namespace is None:
            return dict(self.scope)
        if NAMESPACE_KEY in self.scope:
            raise ValueError(f"the scope has a key {NAMESPACE_KEY!r} already, so there is no room for a namespace")
        return {**self.scope, NAMESPACE_KEY: namespace}

    def adding(self, documents: Sequence[TextDocument], namespace: str | None) -> Steps[list[str]]:
        """Send records as events, and return the ids of those that the service took."""
        scope = self.scope_of(namespace)
        taken: list[str] = []
        for events in _parts([_event(document) for document in documents]):
            taken += yield from self._sending(events, scope)
        return taken

    def _sending(self, events: Sequence[Event], scope: dict[str, str]) -> Steps[list[str]]:
        """Send *events*; where the service refuses them, find out which, and send the others."""
        try:
            operation = yield Ask(
                partial(
                    self.bank.ingest_events,
                    scope=scope,
                    stream_id=self.stream_id,
                    events=events,
                    generation_rule=self.generation_rule,
                    metadata=self.metadata,
                )
            )
        except InvalidArgument as error:
            if not is_caused_by_event(error):
                raise
            if len(events) == 1:
                _log.warning("records refused", extra={"error_type": type(error).__name__, "records": 1})
                return []
            middle = len(events) // 2
            first = yield from self._sending(events[:middle], scope)
            return first + (yield from self._sending(events[middle:], scope))
        ids, conflicts = [str(event.event_id) for event in events], operation.metadata.conflicting_event_ids
        if conflicts:
            _log.warning("records refused", extra={"error_type": "Conflict", "records": len(conflicts)})
        return [record_id for record_id in ids if record_id not in conflicts]

    def updating(self, documents: Mapping[str, TextDocument], namespace: str | None) -> Steps[list[str]]:
        """Set what memories say, and return the ids of those that there are in this scope."""
        scope = self.scope_of(namespace)
        changed = []
        for memory_id, document in documents.items():
            try:
                known: Memory = yield Ask(partial(self.bank.get_memory, memory=memory_id))
                if known.scope == scope:
                    yield Ask(partial(self.bank.update_memory, memory=memory_id, fact=document.content))
                    changed.append(memory_id)
            except NotFound:
                continue
        return changed

    def searching(self, request: SearchRequest, namespace: str | None) -> Steps[list[SearchResult]]:
        """Search for memories, and keep those that are near enough."""
        scope, query = self.scope_of(namespace), _cut(request.query)
        found = yield Ask(lambda: self.bank.retrieve_memories(scope=scope, query=query, top_k=request.top_k))
        results = map(_result, found)
        return [result for result in results if result.score >= request.threshold]


class StreambankStorage:
    """A `WriteStorage` and `SearchStorage` over a bank: what is added becomes memories, which are what is found.

    scope: whose memories they are; a namespace is one more of its keys, named "namespace".
    stream_id: the conversation; ids of messages must be unique in it.
    generation_rule: when memories are made of what came; by default the bank's rule, and without that at each call.
    metadata: of the memories that come of it; what a record's own metadata says is only its role and its time.
    """

    def __init__(
        self,
        bank: Bank,
        *,
        scope: Mapping[str, str],
        stream_id: str = "default",
        generation_rule: Rule | None = None,
        metadata: Mapping[str, MetadataValue] | None = None,
    ) -> None:
        self._target = _Target(bank, dict(scope), stream_id, generation_rule, metadata)

    def add(self, documents: Sequence[TextDocument], namespace: str | None = None) -> list[str]:
        """Send records as events with their ids, so that a repeat adds nothing, and return the ids of those taken.

        A record that the service will never take, because it has more than 345,000 bytes or the id of one that says
        something else, is logged and left out.

        Raises:
            StreambankError: the service could not be reached, or refused the call; what was sent before stays.
        """
        return drive(self._target.adding(documents, namespace))

    def update(self, documents: Mapping[str, TextDocument], namespace: str | None = None) -> list[str]:
        """Set what memories say, by the ids that a search returned, and return the ids of those that existed.

        Raises:
            StreambankError: the service could not be reached, or refused a call.
        """
        return drive(self._target.updating(documents, namespace))

    def search(self, request: SearchRequest, namespace: str | None = None) -> list[SearchResult]:
        """Return memories, nearest first; the score is the cosine that their distance stands for.

        A query is cut at 8,192 bytes.

        Raises:
            StreambankError: the service could not be reached, or refused the call.
        """
        return drive(self._target.searching(request, namespace))


class AsyncStreambankStorage:
    """`StreambankStorage` over an asynchronous bank: the same, awaited."""

    def __init__(
        self,
        bank: AsyncBank,
        *,
        scope: Mapping[str, str],
        stream_id: str = "default",
        generation_rule: Rule | None = None,
        metadata: Mapping[str, MetadataValue] | None = None,
    ) -> None:
        self._target = _Target(bank, dict(scope), stream_id, generation_rule, metadata)

    async def add(self, documents: Sequence[TextDocument], namespace: str | None = None) -> list[str]:
        """Send records as events, as `StreambankStorage.add` does."""
        return await drive_async(self._target.adding(documents, namespace))

    async def update(self, documents: Mapping[str, TextDocument], namespace: str | None = None) -> list[str]:
        """Set what memories say, as `StreambankStorage.update` does."""
        return await drive_async(self._target.updating(documents, namespace))

    async def search(self, request: SearchRequest, namespace: str | None = None) -> list[SearchResult]:
        """Return memories, as `StreambankStorage.search` does."""
        return await drive_async(self._target.searching(request, namespace))


def _event(document: TextDocument) -> Event:
    role = "model" if document.metadata.get("messageRole") == "Assistant" else "user"
    return Event(
        content=Content(role=role, parts=[Part(text=_sound(document.content))]),
        event_id=_sound(document.id or str(uuid4())),
        event_time=_time(document.metadata.get("timestampMs")),
    )


def _time(said_ms: Any) -> datetime | None:
    """Return the time that a record names, None where that is none."""
    is_time = isinstance(said_ms, int) and not isinstance(said_ms, bool) and 0 <= said_ms < _YEAR_10000_MS
    return _EPOCH + timedelta(milliseconds=said_ms) if is_time else None


def _sound(text: str) -> str:
    """Return *text* without the halves of surrogate pairs, which no UTF-8 can hold."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _parts(events: Sequence[Event]) -> Iterator[list[Event]]:
    """Yield *events* in as many calls as they need, without those that no call would take."""
    return batches(filter(_is_small, events), _size, most_events=_MOST_EVENTS, most_bytes=_MOST_BYTES)


def _is_small(event: Event) -> bool:
    is_small = _size(event) <= MAX_CONTENT_BYTES
    if not is_small:
        _log.warning("records refused", extra={"error_type": "TooLarge", "records": 1})
    return is_small


def _size(event: Event) -> int:
    return len(json.dumps(event.content.parts[0].text, ensure_ascii=False).encode())


def _cut(query: str) -> str:
    return _sound(query).encode()[:_MOST_QUERY_BYTES].decode(errors="ignore")


def _result(found: RetrievedMemory) -> SearchResult:
    memory = found.memory
    # The distance of two unit vectors is the square root of 2 - 2 cos.
    score = 1.0 if found.distance is None else 1.0 - found.distance**2 / 2
    return SearchResult(MemoryRecord(memory.fact, memory.id, {**memory.metadata, "name": memory.name}), score)
