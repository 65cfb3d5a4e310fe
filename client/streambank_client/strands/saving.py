"""Saving one batch of one agent's messages to one store."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from streambank_client.strands.cursor import Cursor, Said
from streambank_client.strands.stores import AddMessagesContext, Binding, Ingested
from streambank_client.strands.types import ExtractionResult, Extractor, ExtractorContext, Message


@dataclass(frozen=True)
class Saved:
    """How many messages of a batch the store took, and how many it never will."""

    saved: int = 0
    lost: int = 0


async def save(binding: Binding, cursor: Cursor) -> Saved:
    """Hand the cursor's batch to the store; what the store or the extractor raises is for the caller.

    What an extractor found is kept with the batch, so that only what the store did not take is given to it again.
    """
    kept = [(said, message) for said in cursor.batch if (message := binding.filter.kept(said.message))]
    if not kept:
        return Saved()
    if binding.extractor is None:
        return await _save_messages(binding, cursor, kept)
    if cursor.entries is None:
        cursor.entries = await _extracted(binding.extractor, cursor, [message for _, message in kept])
    await _save_entries(binding, cursor, cursor.entries)
    return Saved(len(kept))


async def _save_messages(binding: Binding, cursor: Cursor, kept: list[tuple[Said, Message]]) -> Saved:
    context = AddMessagesContext(
        sequence_numbers=[said.sequence for said, _ in kept],
        run_id=cursor.run_id,
        message_ids=[said.message_id for said, _ in kept],
    )
    taken = await binding.store.add_messages([message for _, message in kept], context)
    lost = len(taken.refused) if isinstance(taken, Ingested) else 0
    return Saved(len(kept) - lost, lost)


async def _extracted(extractor: Extractor, cursor: Cursor, messages: list[Message]) -> list[ExtractionResult]:
    return list(await extractor.extract(messages, ExtractorContext(cursor.default_model)))


async def _save_entries(binding: Binding, cursor: Cursor, entries: Sequence[ExtractionResult]) -> None:
    adding = (binding.store.add(entry.content, entry.metadata) for entry in entries)
    results = await asyncio.gather(*adding, return_exceptions=True)
    told = list(zip(entries, results, strict=True))
    cursor.entries = [entry for entry, result in told if isinstance(result, BaseException)]
    for _, result in told:
        if isinstance(result, BaseException):
            raise result
