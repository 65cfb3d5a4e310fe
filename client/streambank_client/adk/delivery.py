"""Sends events and facts to a bank, in calls that the service accepts."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any

from streambank_client.adk.custom_metadata import EventSettings
from streambank_client.banks import AsyncBank
from streambank_client.edits import ingest_with_edits
from streambank_client.errors import InvalidArgument
from streambank_client.http.batching import batches, is_caused_by_event
from streambank_client.http.drivers import run_async
from streambank_client.http.encoding import json_bytes
from streambank_client.operations import AsyncOperation
from streambank_client.types import Event, GenerationRule, WindowResponse

# The service's limits for a call, with room for the rest of the request.
MAX_EVENTS = 1_000
MAX_CALL_BYTES = 3_000_000
MAX_DIRECT_MEMORIES = 5
Send = Callable[[Sequence[Event]], Awaitable[AsyncOperation[WindowResponse]]]
_log = logging.getLogger("streambank_client")


async def ingest(
    bank: AsyncBank,
    scope: Mapping[str, str],
    stream_id: str,
    events: Sequence[Event],
    settings: EventSettings,
    *,
    generation_rule: GenerationRule | Mapping[str, Any] | None,
) -> None:
    """Send *events*, also edited ones, to a stream; without events, set its rule if the settings have one.

    Raises:
        StreambankError: the service cannot be reached, or rejected the request.
    """
    operations: list[AsyncOperation[WindowResponse]] = []

    async def ingest_group(group: Sequence[Event], *, force_flush: bool = False) -> AsyncOperation[WindowResponse]:
        operation = await bank.ingest_events(
            scope=scope,
            stream_id=stream_id,
            events=group,
            generation_rule=generation_rule,
            force_flush=force_flush,
            **settings.window,
        )
        operations.append(operation)
        return operation

    async def send(batch: Sequence[Event]) -> AsyncOperation[WindowResponse]:
        lost = await run_async(ingest_with_edits(ingest_group, batch))
        if lost:
            _log.warning("the stream has other events with the same ids", extra={"events": len(lost)})
        return operations[-1]

    for batch in _batches(events):
        await _deliver(batch, send)
    # A refused event may have been the last one, so the flush is a call of its own.
    if settings.force_flush if events else settings.generation_rule:
        await ingest_group((), force_flush=bool(events))
    if operations and settings.waits and settings.force_flush:
        await operations[-1].wait()


async def generate(bank: AsyncBank, scope: Mapping[str, str], events: Sequence[Event], settings: EventSettings) -> None:
    """Make memories of *events* at once, without storing the events.

    Raises:
        StreambankError: the service cannot be reached, or rejected the request.
    """

    async def send(batch: Sequence[Event]) -> AsyncOperation[WindowResponse]:
        return await bank.generate_memories(scope=scope, events=batch, **settings.generation, **settings.window)

    for batch in _batches(events):
        operation = await _deliver(batch, send)
        if operation and settings.waits:
            await operation.wait()


async def consolidate(bank: AsyncBank, scope: Mapping[str, str], facts: Sequence[str], settings: EventSettings) -> None:
    """Consolidate *facts* with the memories of a scope.

    Raises:
        StreambankError: the service cannot be reached, or rejected the request.
    """
    for start in range(0, len(facts), MAX_DIRECT_MEMORIES):
        operation = await bank.generate_memories(
            scope=scope,
            direct_memories=facts[start : start + MAX_DIRECT_MEMORIES],
            **settings.generation,
            **settings.window,
        )
        if settings.waits:
            await operation.wait()


def _batches(events: Sequence[Event]) -> Iterator[list[Event]]:
    """Yield the events in batches that fit into one call each."""
    return batches(
        events, lambda event: len(json_bytes(event.document())), most_events=MAX_EVENTS, most_bytes=MAX_CALL_BYTES
    )


async def _deliver(events: Sequence[Event], send: Send) -> AsyncOperation[WindowResponse] | None:
    """Send *events*; if the service refuses the call because of an event, halve the call and leave that event out."""
    try:
        return await send(events)
    except InvalidArgument as error:
        if not is_caused_by_event(error):
            raise
        if len(events) == 1:
            _log.warning("an event was refused", extra={"event_id": events[0].event_id})
            return None
    middle = len(events) // 2
    operations = [await _deliver(half, send) for half in (events[:middle], events[middle:])]
    return operations[-1] or operations[0]
