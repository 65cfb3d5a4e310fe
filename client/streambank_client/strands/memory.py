"""The memory manager: it gets the messages of any agent loop, and saves them to its stores."""

from __future__ import annotations

import asyncio
import itertools
import random
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from concurrent import futures
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from streambank_client.http.retry import Backoff
from streambank_client.strands.buffer import BufferedMessage, BufferLimits, MessageBuffer
from streambank_client.strands.hooks import AgentHooks
from streambank_client.strands.save_queue import QueueReport, SaveQueue
from streambank_client.strands.stores import MemoryStore, bindings
from streambank_client.strands.types import AgentMessage, ExtractionTriggerContext

# The fields of a message's own id: in messages of a Strands agent, and in those of LangChain and most others.
_ID_KEYS = ("tracking_id", "id")


@dataclass(frozen=True)
class FlushResult:
    """Numbers of messages in a flush; a message counts once for each of its stores.

    *saved* messages reached their store during the flush. *failed* ones did not; they wait for the next attempt, except
    the *lost* ones: those were refused for good, or dropped from a full buffer, since the last flush. *errors* has the
    last error of each store that had one. Messages that a filter removed are not counted.
    """

    saved: int
    failed: int
    lost: int = 0
    errors: Mapping[str, BaseException] = field(default_factory=dict)


class Attachment(AgentHooks):
    """One agent at a memory manager; its loop calls `message_added` and `invocation_ended`, from any thread."""

    def __init__(self, buffers: Mapping[SaveQueue, MessageBuffer], *, run_id: str) -> None:
        super().__init__()
        self.run_id = run_id
        self._buffers = buffers
        self._numbers = itertools.count()

    def message_added(self, message: AgentMessage, *, message_id: str | None = None) -> None:
        """Report that *message* was added to the conversation; one with an id is stored once, even if reported again.

        The default of *message_id* is the message's own `tracking_id` or `id`, if it has one.
        """
        buffered = BufferedMessage(next(self._numbers), message, message_id or _own_id(message))
        for queue, buffer in self._buffers.items():
            queue.add(buffer, buffered)
        super().message_added(message)


class StreambankMemoryManager:
    """Saves the messages of agents to each of *stores*, in the background, when a trigger of the store fires.

    Saves run in the manager's own threads, each with its own event loop: the caller needs no loop, and a loop of the
    caller that ends does not cancel a save. The saves of one store run one after the other; stores do not wait for each
    other. A store or an extractor must therefore hold nothing that belongs to one event loop.

    Raises:
        ValueError: a store does not support its configuration.
    """

    def __init__(
        self,
        stores: Iterable[MemoryStore],
        *,
        backoff: Backoff | None = None,
        limits: BufferLimits | None = None,
        clock: Callable[[], float] = time.monotonic,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._limits = limits or BufferLimits()
        self._queues = {
            SaveQueue(
                binding,
                most_waiting=self._limits.most_waiting,
                backoff=backoff or Backoff(),
                clock=clock,
                jitter=jitter,
            ): binding
            for binding in bindings(stores)
        }

    def attach(self, *, default_model: Any = None) -> Attachment:
        """Return the hooks of one more agent, with its own buffers and numbers; *default_model* is for extractors.

        Any number of agents may be attached, one after the other or at the same time.
        """
        run_id = uuid.uuid4().hex
        buffers = {queue: MessageBuffer(run_id, self._limits.most_together, default_model) for queue in self._queues}
        attachment = Attachment(buffers, run_id=run_id)
        for queue, buffer in buffers.items():
            for trigger in self._queues[queue].triggers:
                trigger.attach(ExtractionTriggerContext(attachment, partial(queue.save_soon, buffer)))
        return attachment

    async def flush(self, *, timeout_seconds: float | None = None) -> FlushResult:
        """Save all messages of all agents now, regardless of triggers and pauses, and return the result.

        Failures are in the result and are never raised. A cancellation ends the waiting; the saves go on.
        """
        flushes = {queue: queue.flush() for queue in self._queues}
        waiting = [asyncio.wrap_future(flush) for flush in flushes.values()]
        if waiting:
            await asyncio.wait(waiting, timeout=timeout_seconds)
        return _result(flushes)

    def flush_sync(self, *, timeout_seconds: float | None = None) -> FlushResult:
        """Do what `flush` does, without an event loop."""
        flushes = {queue: queue.flush() for queue in self._queues}
        futures.wait(flushes.values(), timeout=timeout_seconds)
        return _result(flushes)


def _own_id(message: AgentMessage) -> str | None:
    ids = (message.get(key) for key in _ID_KEYS)
    return next((value for value in ids if isinstance(value, str) and value), None)


def _result(flushes: Mapping[SaveQueue, futures.Future[QueueReport]]) -> FlushResult:
    timeout = TimeoutError("the flush took too long; the saves go on")
    reports = [flush.result() if flush.done() else queue.unfinished(timeout) for queue, flush in flushes.items()]
    lost = sum(report.lost for report in reports)
    return FlushResult(
        saved=sum(report.saved for report in reports),
        failed=sum(report.kept for report in reports) + lost,
        lost=lost,
        errors={report.store: report.error for report in reports if report.error},
    )
