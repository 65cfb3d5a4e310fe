"""The memory manager: any agent loop tells it what is said, and it saves that to its stores."""

from __future__ import annotations

import asyncio
import itertools
import random
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from concurrent import futures
from dataclasses import dataclass, field
from typing import Any

from streambank_client.strands.backoff import Backoff
from streambank_client.strands.cursor import BufferLimits, Cursor, Said
from streambank_client.strands.hooks import Hooks
from streambank_client.strands.lane import Lane, LaneReport
from streambank_client.strands.stores import MemoryStore, bindings
from streambank_client.strands.types import ExtractionTriggerContext, Message

# Where a framework keeps a message's own id: Strands' live messages, LangChain's and most stored ones.
_ID_KEYS = ("tracking_id", "id")


@dataclass(frozen=True)
class FlushResult:
    """What a flush did, in messages, each counted for each store it goes to.

    *saved* reached their store while the flush ran. *failed* did not: all of them wait for the next try but *lost*,
    which were refused for good or fell out of a full buffer since the last flush. *errors* has the last failure of each
    store that had one. What a filter takes out counts nowhere.
    """

    saved: int
    failed: int
    lost: int = 0
    errors: Mapping[str, BaseException] = field(default_factory=dict)


class Attachment(Hooks):
    """One agent at a memory manager; its loop calls `message_added` and `invocation_ended`, from any thread."""

    def __init__(self, lanes: Mapping[Lane, Cursor], *, run_id: str) -> None:
        super().__init__()
        self.run_id = run_id
        self._lanes = lanes
        self._numbers = itertools.count()

    def message_added(self, message: Message, *, message_id: str | None = None) -> None:
        """Tell that *message* joined the conversation; one with an id of its own is stored once, however often told.

        Without *message_id* the message's own `tracking_id` or `id` is taken, if it has one.
        """
        said = Said(next(self._numbers), message, message_id or _own_id(message))
        for lane, cursor in self._lanes.items():
            lane.record(cursor, said)
        super().message_added(message)


class MemoryManager:
    """Saves what agents say to each of *stores*, in the background, as the stores' triggers want it.

    Saves run in threads of the manager's own, each with an event loop of its own: no loop of the caller must run, and
    none that ends takes a save with it. Stores do not wait for each other; one store's saves come one after the other.
    A store or an extractor must therefore hold nothing that belongs to one event loop.

    Raises:
        ValueError: a store cannot do what it is set to.
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
        self._lanes = {
            Lane(
                binding,
                most_waiting=self._limits.most_waiting,
                backoff=backoff or Backoff(),
                clock=clock,
                jitter=jitter,
            ): binding
            for binding in bindings(stores)
        }

    def attach(self, *, default_model: Any = None) -> Attachment:
        """Return the hooks of one more agent, with cursors and counters of its own; *default_model* is for extractors.

        Any number of agents may be attached, one after the other or at once.
        """
        run_id = uuid.uuid4().hex
        cursors = {lane: Cursor(run_id, self._limits.most_together, default_model) for lane in self._lanes}
        attachment = Attachment(cursors, run_id=run_id)
        for lane, cursor in cursors.items():
            for trigger in self._lanes[lane].triggers:
                trigger.attach(ExtractionTriggerContext(attachment, _fire(lane, cursor)))
        return attachment

    async def flush(self, *, timeout_seconds: float | None = None) -> FlushResult:
        """Save all messages of all agents, whatever the triggers and pauses say, and tell what became of them.

        Failures are told, never raised. Who is cancelled here stops waiting; the saves go on.
        """
        flushes = {lane: lane.flush() for lane in self._lanes}
        waiting = [asyncio.wrap_future(flush) for flush in flushes.values()]
        if waiting:
            await asyncio.wait(waiting, timeout=timeout_seconds)
        return _result(flushes)

    def flush_sync(self, *, timeout_seconds: float | None = None) -> FlushResult:
        """Do what `flush` does where no event loop runs."""
        flushes = {lane: lane.flush() for lane in self._lanes}
        futures.wait(flushes.values(), timeout=timeout_seconds)
        return _result(flushes)


def _own_id(message: Message) -> str | None:
    found = (message.get(key) for key in _ID_KEYS)
    return next((value for value in found if isinstance(value, str) and value), None)


def _fire(lane: Lane, cursor: Cursor) -> Callable[[], None]:
    return lambda: lane.fire(cursor)


def _result(flushes: Mapping[Lane, futures.Future[LaneReport]]) -> FlushResult:
    late = TimeoutError("the flush took longer than it may; the saves go on")
    reports = [flush.result() if flush.done() else lane.unfinished(late) for lane, flush in flushes.items()]
    lost = sum(report.lost for report in reports)
    return FlushResult(
        saved=sum(report.saved for report in reports),
        failed=sum(report.kept for report in reports) + lost,
        lost=lost,
        errors={report.store: report.error for report in reports if report.error},
    )
