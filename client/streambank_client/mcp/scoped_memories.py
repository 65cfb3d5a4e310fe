"""What the tools do: calls of one bank about one scope, and their answers."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar
from uuid import uuid4

from streambank_client import errors
from streambank_client.banks import AsyncBank
from streambank_client.formats.times import parse_time
from streambank_client.mcp import answers, failures
from streambank_client.mcp.answers import Answer
from streambank_client.mcp.tools import MAX_QUERY_BYTES, MAX_TEXT_BYTES, text_problem, time_problem
from streambank_client.operations import AsyncOperation
from streambank_client.recall import nearest, requested
from streambank_client.types.events import Event
from streambank_client.types.memories import Memory
from streambank_client.types.operations import WindowResponse

T = TypeVar("T")
# A stream of its own: a flush of it seals no window of the application's streams.
STREAM = "mcp"
WAIT_SECONDS = 20.0
# Of the wait, kept for reading the verdicts.
_READ_SECONDS = 2.0
CALL_SECONDS = 10.0
RECALLED = 10
MAX_LISTED = 100
MAX_REVISIONS = 50
# Arguments of tools are spelled as fields of the API are.
_PARAMETERS = {"asOf": "as_of", "knownAsOf": "known_as_of"}
_MEMORY_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")


@dataclass(frozen=True, slots=True)
class ScopedMemories:
    """The memories of one scope; `now` is a monotonic clock in seconds.

    Methods raise StreambankError where the service fails.
    """

    bank: AsyncBank
    scope: Mapping[str, str]
    now: Callable[[], float]

    async def call(self, tool: str, arguments: Mapping[str, str]) -> Answer:
        """Call a tool by its name with checked arguments."""
        methods: dict[str, Callable[..., Awaitable[Answer]]] = {
            "remember": self.remember,
            "recall": self.recall,
            "list_memories": self.list_memories,
            "forget": self.forget,
            "history": self.history,
        }
        return await methods[tool](**{_PARAMETERS.get(name, name): value for name, value in arguments.items()})

    async def remember(self, text: str) -> Answer:
        """Ingest a text, wait until memories are made of it, and answer what became of it."""
        problem = text_problem("text", text, most_bytes=MAX_TEXT_BYTES)
        if problem:
            return answers.error(problem)
        deadline = self.now() + WAIT_SECONDS
        event = Event.from_text(text, event_id=f"mcp-{uuid4()}")
        operation = await self.bank.ingest_events(scope=self.scope, stream_id=STREAM, events=[event], force_flush=True)
        return await self._outcome(str(event.event_id), operation, deadline)

    async def _outcome(self, event_id: str, operation: AsyncOperation[WindowResponse], deadline: float) -> Answer:
        """Return the verdicts on an event that is stored; from here on a failure loses nothing."""
        bank = self.bank.with_options(timeout_seconds=_READ_SECONDS)
        try:
            await operation.wait(timeout_seconds=max(deadline - _READ_SECONDS - self.now(), 0.0))
            [status] = await bank.find_events(scope=self.scope, stream_id=STREAM, event_ids=[event_id])
        except errors.DeadlineExceeded:
            return answers.STILL_GENERATING
        except errors.OperationFailed as failure:
            return answers.error(failures.sentence(failure))
        except errors.StreambankError as failure:
            return Answer(f"The text is stored, but what became of it is not known. {failures.sentence(failure)}")
        return answers.remembered(status)

    async def recall(self, query: str, as_of: str = "", known_as_of: str = "") -> Answer:
        """Search the memories and the pending events of the scope, or those of a time, which is spelled as a text."""
        problem = (
            text_problem("query", query, most_bytes=MAX_QUERY_BYTES)
            or time_problem("asOf", as_of)
            or time_problem("knownAsOf", known_as_of)
        )
        if problem:
            return answers.error(problem)
        retrieved = await self.bank.retrieve_memories(
            scope=self.scope,
            query=query,
            top_k=requested(RECALLED, include_pending=True),
            include_pending=True,
            as_of=_time(as_of),
            known_as_of=_time(known_as_of),
        )
        results = nearest(retrieved, RECALLED, is_known=lambda _: False)
        return answers.recalled(
            results, is_past=bool(_time(as_of) or _time(known_as_of)), whole_from=retrieved.history_start_time
        )

    async def list_memories(self) -> Answer:
        """List the newest memories of the scope."""
        pages = self.bank.retrieve_all_memories(scope=self.scope, page_size=MAX_LISTED)
        memories, is_complete = await _first(MAX_LISTED, aiter(pages))
        return answers.listed([one.memory for one in memories], is_complete=is_complete)

    async def read_memory(self, memory: str) -> Answer | None:
        """Return a memory of the scope, or None if there is none of this id."""
        current = await self._memory(memory)
        return answers.single(current) if current else None

    async def forget(self, memory: str) -> Answer:
        """Delete a memory of the scope."""
        current = await self._memory(memory)
        if current is None:
            return answers.error(answers.UNKNOWN_MEMORY)
        try:
            await self.bank.delete_memory(memory=memory)
        except errors.NotFound:  # somebody else deleted it meanwhile
            return answers.error(answers.UNKNOWN_MEMORY)
        return answers.forgotten(current)

    async def history(self, memory: str) -> Answer:
        """List the revisions of a memory of the scope."""
        current = await self._memory(memory)
        if current is None:
            return answers.error(answers.UNKNOWN_MEMORY)
        pages = self.bank.list_revisions(memory=memory, page_size=MAX_REVISIONS)
        revisions, is_complete = await _first(MAX_REVISIONS, aiter(pages))
        return answers.revisions(current, revisions, is_complete=is_complete)

    async def _memory(self, memory_id: str) -> Memory | None:
        """Return a memory of the scope; that of another scope, which the key may reach, is as unknown as none."""
        if not _MEMORY_ID.fullmatch(memory_id):
            return None
        try:
            memory = await self.bank.get_memory(memory=memory_id)
        except errors.NotFound:
            return None
        return memory if memory.scope == dict(self.scope) else None


def _time(text: str) -> datetime | None:
    return parse_time(text.strip())


async def _first(most: int, items: AsyncIterator[T]) -> tuple[list[T], bool]:
    """Return the first *most* items, and whether these are all."""
    first = list[T]()
    async for item in items:
        if len(first) == most:
            return first, False
        first.append(item)
    return first, True
