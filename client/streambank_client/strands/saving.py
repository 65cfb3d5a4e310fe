"""Saves one batch of one agent's messages to one store."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from streambank_client.strands.buffer import BufferedMessage, MessageBuffer
from streambank_client.strands.stores import AddMessagesContext, Ingested, StoreBinding
from streambank_client.strands.types import AgentMessage, ExtractionResult, ExtractorContext


@dataclass(frozen=True)
class SaveOutcome:
    """How many messages of a batch the store accepted, and how many it will never accept."""

    saved: int = 0
    lost: int = 0


async def save_batch(binding: StoreBinding, buffer: MessageBuffer) -> SaveOutcome:
    """Save the buffer's batch; errors of the store and of the extractor are raised.

    The facts of an extractor are kept with the batch, so that a repeat saves only those that the store did not accept.
    """
    kept = [(buffered, message) for buffered in buffer.batch if (message := binding.filter.kept(buffered.message))]
    if not kept:
        return SaveOutcome()
    if binding.extractor is None:
        return await _save_messages(binding, buffer, kept)
    if buffer.entries is None:
        context = ExtractorContext(buffer.default_model)
        buffer.entries = list(await binding.extractor.extract([message for _, message in kept], context))
    await _save_entries(binding, buffer, buffer.entries)
    return SaveOutcome(len(kept))


async def _save_messages(
    binding: StoreBinding, buffer: MessageBuffer, kept: list[tuple[BufferedMessage, AgentMessage]]
) -> SaveOutcome:
    context = AddMessagesContext(
        sequence_numbers=[buffered.sequence for buffered, _ in kept],
        run_id=buffer.run_id,
        message_ids=[buffered.message_id for buffered, _ in kept],
    )
    result = await binding.store.add_messages([message for _, message in kept], context)
    lost = len(result.refused) if isinstance(result, Ingested) else 0
    return SaveOutcome(len(kept) - lost, lost)


async def _save_entries(binding: StoreBinding, buffer: MessageBuffer, entries: Sequence[ExtractionResult]) -> None:
    calls = (binding.store.add(entry.content, entry.metadata) for entry in entries)
    results = await asyncio.gather(*calls, return_exceptions=True)
    pairs = list(zip(entries, results, strict=True))
    buffer.entries = [entry for entry, result in pairs if isinstance(result, BaseException)]
    for _, result in pairs:
        if isinstance(result, BaseException):
            raise result
