"""A bank as a memory store: what agents say goes to a stream, and the service extracts."""

from __future__ import annotations

import hashlib
import json
import logging
import threading
import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from streambank_client.errors import AlreadyExists
from streambank_client.formats.conversion import Options, Reason
from streambank_client.formats.tool_names import ToolNames
from streambank_client.strands import outgoing, threads
from streambank_client.strands.outgoing import Outgoing
from streambank_client.strands.stores import AddMessagesContext, Ingested, MemoryEntry
from streambank_client.strands.types import Extraction, Message, extraction_config
from streambank_client.types import Event, GenerationRule, RetrievedMemory

if TYPE_CHECKING:
    from streambank_client.banks import Streambank

_log = logging.getLogger(__name__)
# The service's own default and limits.
DEFAULT_RESULTS = 3
MOST_RESULTS = 100
MOST_QUERY_BYTES = 8_192
MOST_FACT_BYTES = 8_192
# Left out because it was asked for, or because there was nothing in it.
_AS_WANTED = frozenset({Reason.REASONING, Reason.SYSTEM, Reason.BLANK, Reason.EMPTY})


class BankStream:
    """A stream and the memories of its scope.

    *client* is the one that waits, `Streambank`: calls are made in threads of their own, so that no event loop that
    ends cancels one. A cancelled `add_messages` waits for its write. Any number of agents may share a store under our
    manager; under Strands' every agent that lives needs one of its own, and `initialize` begins a new run.

    *extraction* True is every 5 turns where the store is writable. *generation_rule* is sent with every call and says
    when the service makes memories, which is what sets the pace with agents that save after each turn.
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
    ) -> None:
        self.name = name
        self.description = description
        self.max_search_results = max_search_results
        self.writable = writable
        # Strands has a type of its own for it.
        self.extraction: Any = _extraction(extraction, writable=writable)
        self._bank = client.bank(bank)
        self._scope, self._stream_id = dict(scope), stream_id
        self._generation_rule = generation_rule
        self._options = Options(include_reasoning=include_reasoning)
        self._tool_names = ToolNames()
        self._preparing = threading.Lock()
        self._run_id = uuid.uuid4().hex

    async def initialize(self) -> None:
        """Check that the bank can be reached and begin a new run.

        Raises:
            StreambankError: it cannot, or there is none.
        """
        await threads.interruptible(threads.begin(self._bank.get, name="memory-bank"))
        self._run_id = uuid.uuid4().hex

    async def add_messages(self, messages: Sequence[Message], context: Any = None) -> Ingested:
        """Put *messages* into the stream, each once however often it is sent, and return when they are stored.

        What the service refuses for good is left out and logged; it must not hold up what comes after it. *context* is
        ours or Strands'.

        Raises:
            StreambankError: nobody is sure that all is stored; send the same messages again.
        """
        run_id, told = self._run_id, _context(context)
        return await threads.settled(threads.begin(lambda: self._ingest(messages, told, run_id), name="memory-write"))

    def _ingest(self, messages: Sequence[Message], context: AddMessagesContext, run_id: str) -> Ingested:
        with self._preparing:
            batch = outgoing.prepared(
                messages, context, run_id=run_id, options=self._options, tool_names=self._tool_names
            )
        refused, conflicting = [*batch.refused], list[str]()
        for call in outgoing.calls(batch.events):
            refused += outgoing.deliver(call, lambda events: conflicting.extend(self._send(events)))
        lost = (*refused, *conflicting)
        dropped = {reason.value: count for reason, count in batch.dropped.items()}
        self._log_losses(refused, conflicting, {Reason(reason) for reason in dropped} - _AS_WANTED)
        return Ingested(len(batch.events) + len(batch.refused) - len(lost), lost, dropped)

    def _send(self, events: Sequence[Outgoing]) -> Sequence[str]:
        """Send *events* and return the ids that the stream has for something else."""
        sent: list[Event] = [one.event for one in events]
        operation = self._bank.ingest_events(
            scope=self._scope, stream_id=self._stream_id, events=sent, generation_rule=self._generation_rule
        )
        return operation.metadata.conflicting_event_ids

    def _log_losses(self, refused: Sequence[str], conflicting: Sequence[str], dropped: set[Reason]) -> None:
        told = {"store": self.name, "refused": refused, "conflicting": conflicting, "reasons": sorted(dropped)}
        if refused or conflicting:
            _log.warning("memory messages refused", extra=told)
        elif dropped:
            _log.info("memory message parts dropped", extra=told)

    async def _found(self, query: str, options: Mapping[str, Any] | None) -> list[tuple[str, dict[str, Any]]]:
        """Return the facts nearest to *query*, and what is told about them."""
        if not query.strip():
            return []
        asked = (options or {}).get("max_search_results") or self.max_search_results or DEFAULT_RESULTS
        top_k = max(1, min(asked, MOST_RESULTS))

        def retrieve() -> Sequence[RetrievedMemory]:
            return self._bank.retrieve_memories(scope=self._scope, query=_cut(query, MOST_QUERY_BYTES), top_k=top_k)

        found = await threads.interruptible(threads.begin(retrieve, name="memory-search"))
        return [(one.memory.fact, _told(one)) for one in found]


class BankFacts(BankStream):
    """Takes single facts too: what an extractor on the client finds, or an agent's tool says."""

    async def add(self, content: str, metadata: Mapping[str, Any] | None = None) -> None:
        """Store a fact as a memory, once for each run of the store, however often it is added.

        What is longer than 8,192 bytes is cut off. Metadata that is neither text, number, truth nor time is stored as
        JSON.

        Raises:
            ValueError: the content is blank.
            StreambankError: it is not stored, or nobody is sure.
        """
        if not content.strip():
            raise ValueError("add: content must not be blank")
        key = f"{self._run_id}-{hashlib.sha256(content.encode()).hexdigest()[:32]}"
        await threads.settled(threads.begin(lambda: self._create(content, metadata or {}, key), name="memory-write"))

    def _create(self, content: str, metadata: Mapping[str, Any], key: str) -> None:
        fact = _cut(content, MOST_FACT_BYTES)
        plain = {name: _plain(value) for name, value in metadata.items()} or None
        try:
            self._bank.create_memory(scope=self._scope, fact=fact, metadata=plain, idempotency_key=key)
        except AlreadyExists:
            # It was stored in this run and deleted since, which is not to be undone by a repeat.
            _log.info("memory fact was deleted", extra={"store": self.name})


class BankStore(BankStream):
    """A bank for our memory manager: the service extracts."""

    async def search(self, query: str, options: Mapping[str, Any] | None = None) -> list[MemoryEntry]:
        """Return the memories nearest to *query*, as many as `max_search_results`, of 1 to 100.

        Raises:
            StreambankError: the service could not be asked.
        """
        return [MemoryEntry(fact, metadata=told) for fact, told in await self._found(query, options)]


class BankFactStore(BankStore, BankFacts):
    """A bank that takes single facts too, for an extractor on the client."""


def _extraction(given: Extraction, *, writable: bool) -> dict[str, Any] | None:
    """Return the one shape that both managers read: a dict."""
    config = extraction_config(writable if given is True else given)
    return config.as_dict() if config else None


def _context(given: Any) -> AddMessagesContext:
    if isinstance(given, AddMessagesContext):
        return given
    return AddMessagesContext(sequence_numbers=getattr(given, "sequence_numbers", None))


def _told(found: RetrievedMemory) -> dict[str, Any]:
    memory = found.memory
    return {**memory.metadata, "_name": memory.name, "_distance": found.distance, "_update_time": memory.update_time}


def _cut(text: str, most_bytes: int) -> str:
    return text.encode(errors="replace")[:most_bytes].decode(errors="ignore")


def _plain(value: Any) -> str | float | bool | datetime:
    if isinstance(value, str | int | float | datetime):
        return value
    return json.dumps(value, default=str)
