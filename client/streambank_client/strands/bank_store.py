"""A bank as a memory store: messages are sent to a stream, and the service extracts memories from them."""

from __future__ import annotations

import hashlib
import json
import logging
import threading
import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from streambank_client.edits import ingest_with_edits
from streambank_client.errors import AlreadyExists, DeadlineExceeded, InternalError, Unavailable
from streambank_client.formats.conversion import Options, Reason
from streambank_client.formats.memory_block import dated_fact
from streambank_client.formats.tool_names import ToolNames
from streambank_client.http.drivers import run
from streambank_client.limits import checked_bank_id, checked_rule, checked_scope, checked_stream_id, synchronous
from streambank_client.recall import nearest, requested
from streambank_client.strands import outgoing, threads
from streambank_client.strands.outgoing import OutgoingEvent
from streambank_client.strands.stores import AddMessagesContext, Ingested, MemoryEntry
from streambank_client.strands.types import AgentMessage, Extraction, extraction_config
from streambank_client.types import (
    Event,
    GenerationRule,
    RetrievedEvent,
    RetrievedMemories,
    RetrievedMemory,
    WindowResponse,
)

if TYPE_CHECKING:
    from streambank_client.banks import Streambank
    from streambank_client.operations import Operation

_log = logging.getLogger(__name__)
# The default and the limits of the service.
DEFAULT_RESULTS = 3
MOST_RESULTS = 100
MOST_QUERY_BYTES = 8_192
MOST_FACT_BYTES = 8_192
# These parts are left out by configuration, or because they are empty: this is not logged.
_EXPECTED_REASONS = frozenset({Reason.REASONING, Reason.SYSTEM, Reason.BLANK, Reason.EMPTY})
# Errors that pass by themselves: an agent runs without memory until then.
_AWAY = (Unavailable, DeadlineExceeded, InternalError)
# The longest wait of a new agent for a service that does not answer.
_INITIALIZE_SECONDS = 10.0


class BankStream:
    """A stream and the memories of its scope.

    *client* is a synchronous `Streambank`: calls run in threads of their own, so that an event loop that ends cancels
    none. A cancelled `add_messages` waits for its write. With this package's manager any number of agents may share a
    store; with Strands' manager every agent needs its own store, and `initialize` begins a new run.

    *extraction* True is every 5 turns if the store is writable. *generation_rule* is sent with every call: it decides
    when the service makes memories, also if agents save after each turn. Where the filter of *extraction* keeps blocks
    of tools, the service reads them too. *include_pending* adds the messages that wait for a generation to the results
    of a search.

    Raises:
        ValueError: an argument could never work: it is beyond the service's limits, or the client is asynchronous.
    """

    def __init__(
        self,
        *,
        client: Streambank,
        scope: Mapping[str, str],
        bank: str = "default",
        stream_id: str = "default",
        name: str = "memory",
        description: str | None = None,
        max_search_results: int | None = None,
        writable: bool = True,
        extraction: Extraction = True,
        generation_rule: GenerationRule | Mapping[str, Any] | None = None,
        include_reasoning: bool = False,
        include_pending: bool = True,
    ) -> None:
        self.name = name
        self.description = description
        self.max_search_results = max_search_results
        self.writable = writable
        # Any, because Strands has its own type for it.
        self.extraction: Any = _extraction(extraction, writable=writable)
        self._has_tool_blocks = _has_tool_blocks(self.extraction)
        self._bank = synchronous(client, "client", "bank").bank(checked_bank_id(bank))
        self._scope, self._stream_id = checked_scope(scope), checked_stream_id(stream_id)
        self._generation_rule = checked_rule(generation_rule)
        self._include_pending = include_pending
        self._options = Options(include_reasoning=include_reasoning)
        self._tool_names = ToolNames()
        self._preparing = threading.Lock()
        self._run_id = uuid.uuid4().hex
        self._is_away = False

    async def initialize(self) -> None:
        """Check that the bank exists, and begin a new run.

        A service that is not available is logged once; the agent runs without memory until the service is back.

        Raises:
            StreambankError: the bank does not exist, or the caller may not use it.
        """
        self._run_id = uuid.uuid4().hex
        timeout_seconds = min(_INITIALIZE_SECONDS, self._bank.caller.sender.policy.timeout_seconds)
        bank = self._bank.with_options(timeout_seconds=timeout_seconds, retries=0)
        try:
            await threads.wait(threads.start(bank.get, name="memory-bank"))
        except _AWAY as error:
            if not self._is_away:
                _log.warning("memory unavailable", extra={"store": self.name, "error_type": type(error).__name__})
            self._is_away = True
        else:
            self._reached()

    def _reached(self) -> None:
        if self._is_away:
            _log.info("memory available again", extra={"store": self.name})
        self._is_away = False

    async def add_messages(self, messages: Sequence[AgentMessage], context: Any = None) -> Ingested:
        """Send *messages* to the stream and return when they are stored; a repeat adds nothing.

        Messages that the service refuses for good are left out and logged, so that they do not block later ones.
        *context* is that of this package or of Strands.

        Raises:
            StreambankError: some messages may not be stored; send the same messages again.
        """
        ingest = partial(self._ingest, messages, _context(context), self._run_id)
        return await threads.wait_uncancelled(threads.start(ingest, name="memory-write"))

    def _ingest(self, messages: Sequence[AgentMessage], context: AddMessagesContext, run_id: str) -> Ingested:
        with self._preparing:
            batch = outgoing.prepare(
                messages, context, run_id=run_id, options=self._options, tool_names=self._tool_names
            )
        refused, conflicting = [*batch.refused], list[str]()
        for call in outgoing.call_batches(batch.events):
            refused += run(outgoing.deliver(call, lambda events: conflicting.extend(self._send(events))))
        self._reached()
        lost = (*refused, *conflicting)
        dropped = {reason.value: count for reason, count in batch.dropped.items()}
        self._log_losses(refused, conflicting, {Reason(reason) for reason in dropped} - _EXPECTED_REASONS)
        return Ingested(len(batch.events) + len(batch.refused) - len(lost), lost, dropped)

    def _send(self, outgoing_events: Sequence[OutgoingEvent]) -> Sequence[str]:
        """Send events, also edited ones, and return the ids of those that are not stored."""

        def ingest(events: Sequence[Event]) -> Operation[WindowResponse]:
            return self._bank.ingest_events(
                scope=self._scope,
                stream_id=self._stream_id,
                events=events,
                generation_rule=self._generation_rule,
                include_tool_traffic=self._has_tool_blocks or None,
            )

        return run(ingest_with_edits(ingest, [outgoing_event.event for outgoing_event in outgoing_events]))

    def _log_losses(self, refused: Sequence[str], conflicting: Sequence[str], dropped: set[Reason]) -> None:
        fields = {"store": self.name, "refused": refused, "conflicting": conflicting, "reasons": sorted(dropped)}
        if refused or conflicting:
            _log.warning("memory messages refused", extra=fields)
        elif dropped:
            _log.info("memory message parts dropped", extra=fields)

    async def _search(self, query: str, options: Mapping[str, Any] | None) -> list[tuple[str, dict[str, Any]]]:
        """Return the facts and pending messages nearest to *query*, with their metadata."""
        if not query.strip():
            return []
        limit = (options or {}).get("max_search_results") or self.max_search_results or DEFAULT_RESULTS
        top_k = max(1, min(limit, MOST_RESULTS))

        def retrieve() -> RetrievedMemories:
            return self._bank.retrieve_memories(
                scope=self._scope,
                query=_truncated(query, MOST_QUERY_BYTES),
                top_k=requested(top_k, include_pending=self._include_pending),
                include_pending=self._include_pending,
            )

        def is_known(hit: RetrievedEvent) -> bool:
            is_of_run = (hit.event.event_id or "").startswith(f"{run_id}-")
            return is_of_run or hit.event.content.text.strip() == query.strip()

        run_id = self._run_id
        retrieved = await threads.wait(threads.start(retrieve, name="memory-search"))
        self._reached()
        return [_entry(hit) for hit in nearest(retrieved, top_k, is_known=is_known)]


class BankFacts(BankStream):
    """A stream that accepts single facts too: of an extractor on the client, or of a tool of the agent."""

    async def add(self, content: str, metadata: Mapping[str, Any] | None = None) -> None:
        """Store a fact as a memory, once in each run of the store even if it is added again.

        A fact is cut after 8,192 bytes. Metadata that is not text, number, boolean or time is stored as JSON.

        Raises:
            ValueError: the content is blank.
            StreambankError: the fact may not be stored.
        """
        if not content.strip():
            raise ValueError("add: content must not be blank")
        key = f"{self._run_id}-{hashlib.sha256(content.encode()).hexdigest()[:32]}"
        create = partial(self._create, content, metadata or {}, key)
        await threads.wait_uncancelled(threads.start(create, name="memory-write"))

    def _create(self, content: str, metadata: Mapping[str, Any], key: str) -> None:
        fact = _truncated(content, MOST_FACT_BYTES)
        plain = {name: _plain_value(value) for name, value in metadata.items()} or None
        try:
            self._bank.create_memory(scope=self._scope, fact=fact, metadata=plain, idempotency_key=key)
        except AlreadyExists:
            # It was stored in this run and deleted since; a repeat must not restore it.
            _log.info("memory fact was deleted", extra={"store": self.name})


class BankStore(BankStream):
    """A bank for this package's memory manager: the service extracts."""

    async def search(self, query: str, options: Mapping[str, Any] | None = None) -> list[MemoryEntry]:
        """Return the memories nearest to *query*, as many as `max_search_results`, of 1 to 100.

        Raises:
            StreambankError: the service could not be reached, or refused the call.
        """
        return [MemoryEntry(fact, metadata=metadata) for fact, metadata in await self._search(query, options)]


class BankFactStore(BankStore, BankFacts):
    """A bank that accepts single facts too, for an extractor on the client."""


def _extraction(extraction: Extraction, *, writable: bool) -> dict[str, Any] | None:
    """Return the configuration as a dict, the form that both managers read."""
    config = extraction_config(writable if extraction is True else extraction)
    return config.as_dict() if config else None


def _has_tool_blocks(extraction: Any) -> bool:
    """Return whether the filter of a configuration lets calls or results of tools through."""
    config = extraction_config(extraction)
    return config is not None and config.has_tool_blocks


def _context(context: Any) -> AddMessagesContext:
    """Return the context of this package for that of either manager."""
    if isinstance(context, AddMessagesContext):
        return context
    return AddMessagesContext(sequence_numbers=getattr(context, "sequence_numbers", None))


def _entry(hit: RetrievedMemory | RetrievedEvent) -> tuple[str, dict[str, Any]]:
    """Return the text and the metadata of a result."""
    if isinstance(hit, RetrievedEvent):
        content = hit.event.content
        return content.text, {"_pending": True, "_role": content.role, "_distance": hit.distance}
    memory = hit.memory
    own = {"_name": memory.name, "_distance": hit.distance, "_update_time": memory.update_time}
    return dated_fact(memory), {**memory.metadata, **own}


def _truncated(text: str, most_bytes: int) -> str:
    return text.encode(errors="replace")[:most_bytes].decode(errors="ignore")


def _plain_value(value: Any) -> str | float | bool | datetime:
    if isinstance(value, str | int | float | datetime):
        return value
    return json.dumps(value, default=str)
