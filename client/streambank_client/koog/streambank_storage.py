"""A bank of the service as a storage: records become its events, a search returns its memories."""

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
from streambank_client.edits import ingest_with_edits
from streambank_client.errors import InvalidArgument, NotFound
from streambank_client.formats.conversion import MAX_CONTENT_BYTES
from streambank_client.formats.memory_block import dated_fact
from streambank_client.http.batching import batches, is_caused_by_event
from streambank_client.http.drivers import Invoke, Steps, run, run_async
from streambank_client.koog.records import MemoryRecord, SearchRequest, SearchResult, TextDocument
from streambank_client.limits import (
    asynchronous,
    checked_namespace,
    checked_rule,
    checked_scope,
    checked_stream_id,
    synchronous,
)
from streambank_client.recall import nearest, requested
from streambank_client.types import MetadataValue
from streambank_client.types.events import Content, Event, GenerationRule, Part
from streambank_client.types.memories import Memory, RetrievedEvent, RetrievedMemory

NAMESPACE_KEY = "namespace"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_YEAR_10000_MS = 253_402_300_800_000
# The service accepts 1,000 events and 4 MB in a call; an event's id and times are small beside its text.
_MOST_EVENTS = 100
_MOST_BYTES = 2_000_000
_MOST_QUERY_BYTES = 8_192
_log = logging.getLogger("streambank_client")
RuleArgument: TypeAlias = GenerationRule | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Target:
    """Where records are sent, and the arguments of each call."""

    bank: Any
    scope: Mapping[str, str]
    stream_id: str
    generation_rule: GenerationRule | None
    metadata: Mapping[str, MetadataValue] | None
    include_pending: bool

    def scope_of(self, namespace: str | None) -> dict[str, str]:
        """Return the scope of a namespace, which is one more key."""
        return checked_namespace(self.scope, namespace, key=NAMESPACE_KEY)

    def add(self, documents: Sequence[TextDocument], namespace: str | None) -> Steps[list[str]]:
        """Send records as events, and return the ids of those that the service accepted."""
        scope = self.scope_of(namespace)
        accepted: list[str] = []
        for events in _call_batches([_event(document) for document in documents]):
            accepted += yield from self._send(events, scope)
        return accepted

    def _send(self, events: Sequence[Event], scope: dict[str, str]) -> Steps[list[str]]:
        """Send *events*; if the service refuses them, find the refused one by halving, and send the others."""
        ingest = partial(
            self.bank.ingest_events,
            scope=scope,
            stream_id=self.stream_id,
            generation_rule=self.generation_rule,
            metadata=self.metadata,
        )
        try:
            lost = yield from ingest_with_edits(lambda group: ingest(events=group), events)
        except InvalidArgument as error:
            if not is_caused_by_event(error):
                raise
            if len(events) == 1:
                _log.warning("records refused", extra={"error_type": type(error).__name__, "records": 1})
                return []
            middle = len(events) // 2
            first = yield from self._send(events[:middle], scope)
            return first + (yield from self._send(events[middle:], scope))
        if lost:
            _log.warning("records refused", extra={"error_type": "Conflict", "records": len(lost)})
        return [str(event.event_id) for event in events if event.event_id not in lost]

    def update(self, documents: Mapping[str, TextDocument], namespace: str | None) -> Steps[list[str]]:
        """Change the facts of memories, and return the ids of those that exist in this scope."""
        scope = self.scope_of(namespace)
        changed = []
        for memory_id, document in documents.items():
            try:
                memory: Memory = yield Invoke(partial(self.bank.get_memory, memory=memory_id))
                if memory.scope == scope:
                    yield Invoke(partial(self.bank.update_memory, memory=memory_id, fact=document.content))
                    changed.append(memory_id)
            except NotFound:
                continue
        return changed

    def search(self, request: SearchRequest, namespace: str | None) -> Steps[list[SearchResult]]:
        """Search for memories and pending messages, and return those that reach the threshold."""
        scope, query = self.scope_of(namespace), _cut(request.query)
        known = {text.strip() for text in (request.query, *request.known_texts)} if self.include_pending else set()
        retrieve = partial(
            self.bank.retrieve_memories,
            scope=scope,
            query=query,
            top_k=requested(request.top_k, include_pending=self.include_pending),
            include_pending=self.include_pending,
        )
        retrieved = yield Invoke(retrieve)
        hits = nearest(retrieved, request.top_k, is_known=lambda event: event.event.content.text.strip() in known)
        results = map(_result, hits)
        return [result for result in results if result.score >= request.threshold]


def _target(
    bank: Any,
    *,
    scope: Mapping[str, str],
    stream_id: str,
    generation_rule: RuleArgument | None,
    metadata: Mapping[str, MetadataValue] | None,
    include_pending: bool,
) -> _Target:
    rule = checked_rule(generation_rule)
    return _Target(bank, checked_scope(scope), checked_stream_id(stream_id), rule, metadata, include_pending)


class StreambankStorage:
    """A `WriteStorage` and `SearchStorage` over a bank: records become memories, and a search returns these.

    bank: a `Bank` of a `Streambank`.
    scope: the scope of the memories; a namespace is one more of its keys, named "namespace".
    stream_id: the conversation; ids of messages must be unique in it.
    generation_rule: when memories are made; the default is the bank's rule, and without that each call.
    metadata: the metadata of the memories; of a record's own metadata only its role and its time are sent.
    include_pending: a search also returns records of which no memories are made yet.

    Raises:
        ValueError: an argument could never work: it is beyond the service's limits, or the bank is asynchronous.
    """

    def __init__(
        self,
        bank: Bank,
        *,
        scope: Mapping[str, str],
        stream_id: str = "default",
        generation_rule: RuleArgument | None = None,
        metadata: Mapping[str, MetadataValue] | None = None,
        include_pending: bool = True,
    ) -> None:
        self._target = _target(
            synchronous(bank, "bank", "ingest_events"),
            scope=scope,
            stream_id=stream_id,
            generation_rule=generation_rule,
            metadata=metadata,
            include_pending=include_pending,
        )

    def add(self, documents: Sequence[TextDocument], namespace: str | None = None) -> list[str]:
        """Send records as events with their ids, and return the ids of the accepted ones; a repeat adds nothing.

        A record that the service refuses is logged and left out: one with more than 345,000 bytes, or with the id of
        another text.

        Raises:
            StreambankError: the service could not be reached, or refused the call; what was sent before stays.
        """
        return run(self._target.add(documents, namespace))

    def update(self, documents: Mapping[str, TextDocument], namespace: str | None = None) -> list[str]:
        """Change the facts of memories by the ids that a search returned, and return the ids of those that exist.

        Raises:
            StreambankError: the service could not be reached, or refused a call.
        """
        return run(self._target.update(documents, namespace))

    def search(self, request: SearchRequest, namespace: str | None = None) -> list[SearchResult]:
        """Return memories, nearest first; the score is the cosine similarity.

        A query is cut at 8,192 bytes.

        Raises:
            StreambankError: the service could not be reached, or refused the call.
        """
        return run(self._target.search(request, namespace))


class AsyncStreambankStorage:
    """`StreambankStorage` over an asynchronous bank, whose methods are awaited."""

    def __init__(
        self,
        bank: AsyncBank,
        *,
        scope: Mapping[str, str],
        stream_id: str = "default",
        generation_rule: RuleArgument | None = None,
        metadata: Mapping[str, MetadataValue] | None = None,
        include_pending: bool = True,
    ) -> None:
        self._target = _target(
            asynchronous(bank, "bank", "ingest_events"),
            scope=scope,
            stream_id=stream_id,
            generation_rule=generation_rule,
            metadata=metadata,
            include_pending=include_pending,
        )

    async def add(self, documents: Sequence[TextDocument], namespace: str | None = None) -> list[str]:
        """Send records as events, as `StreambankStorage.add` does."""
        return await run_async(self._target.add(documents, namespace))

    async def update(self, documents: Mapping[str, TextDocument], namespace: str | None = None) -> list[str]:
        """Change the facts of memories, as `StreambankStorage.update` does."""
        return await run_async(self._target.update(documents, namespace))

    async def search(self, request: SearchRequest, namespace: str | None = None) -> list[SearchResult]:
        """Return memories, as `StreambankStorage.search` does."""
        return await run_async(self._target.search(request, namespace))


def _event(document: TextDocument) -> Event:
    role = "model" if document.metadata.get("messageRole") == "Assistant" else "user"
    return Event(
        content=Content(role=role, parts=[Part(text=_encodable(document.content))]),
        event_id=_encodable(document.id or str(uuid4())),
        event_time=_time(document.metadata.get("timestampMs")),
    )


def _time(timestamp_ms: Any) -> datetime | None:
    """Return the time of a record, or None if its timestamp is not valid."""
    is_number = isinstance(timestamp_ms, int) and not isinstance(timestamp_ms, bool)
    is_time = is_number and 0 <= timestamp_ms < _YEAR_10000_MS
    return _EPOCH + timedelta(milliseconds=timestamp_ms) if is_time else None


def _encodable(text: str) -> str:
    """Return *text* without halves of surrogate pairs, which UTF-8 cannot encode."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _call_batches(events: Sequence[Event]) -> Iterator[list[Event]]:
    """Yield *events* in batches of one call each, without those that are too large for any call."""
    return batches(filter(_is_small, events), _size, most_events=_MOST_EVENTS, most_bytes=_MOST_BYTES)


def _is_small(event: Event) -> bool:
    is_small = _size(event) <= MAX_CONTENT_BYTES
    if not is_small:
        _log.warning("records refused", extra={"error_type": "TooLarge", "records": 1})
    return is_small


def _size(event: Event) -> int:
    return len(json.dumps(event.content.parts[0].text, ensure_ascii=False).encode())


def _cut(query: str) -> str:
    return _encodable(query).encode()[:_MOST_QUERY_BYTES].decode(errors="ignore")


def _result(hit: RetrievedMemory | RetrievedEvent) -> SearchResult:
    # The distance of two unit vectors is the square root of 2 - 2 cos.
    score = 1.0 if hit.distance is None else 1.0 - hit.distance**2 / 2
    if isinstance(hit, RetrievedEvent):
        content = hit.event.content
        role = "Assistant" if content.role == "model" else "User"
        return SearchResult(
            MemoryRecord(content.text, hit.event.event_id, {"messageRole": role, "pending": True}), score
        )
    memory = hit.memory
    return SearchResult(MemoryRecord(dated_fact(memory), memory.id, {**memory.metadata, "name": memory.name}), score)
