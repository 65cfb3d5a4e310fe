"""Long-term memory around a streaming, asynchronous model: ingestion at completion, a strategy of one's own, recall.

python docs/examples/long_term_memory.py
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import Any
from uuid import uuid4

from streambank_client import AsyncBank, AsyncStreambank, GenerationRule
from streambank_client.errors import StreambankError
from streambank_client.koog import (
    AsyncStreambankStorage,
    ConversationMessage,
    FilteringExtractionStrategy,
    IngestionSettings,
    IngestionTiming,
    LongTermMemory,
    MemoryRecord,
    RetrievalSettings,
    SearchRequest,
    UserPromptAugmenter,
)

EMAIL = re.compile(r"[\w.]+@[\w.]+")
users_only = FilteringExtractionStrategy(roles={"user"})


def without_addresses(messages: Sequence[ConversationMessage]) -> list[MemoryRecord]:
    """Make records of the user's messages without mail addresses; the ids stay, so that nothing is stored twice."""
    return [
        MemoryRecord(EMAIL.sub("[address]", record.content), record.id, record.metadata)
        for record in users_only(messages)
    ]


async def model(messages: list[dict[str, Any]]) -> AsyncIterator[str]:
    """Stand in for a model: stream what the prompt says of earlier conversations."""
    known = [line.removeprefix("- ") for line in messages[-1]["content"].splitlines() if line.startswith("- ")]
    for word in (" ".join(known) or "Nothing yet.").split():
        yield f"{word} "


async def converse(memory: LongTermMemory, text: str) -> str:
    """Let the model answer in a run of its own."""
    async with memory.run() as run:
        frames = run.wrap(model)([{"role": "user", "content": text}])
        return "".join([frame async for frame in frames]).strip()


async def flush(bank: AsyncBank, scope: dict[str, str]) -> None:
    """Make memories of the messages so far."""
    operation = await bank.ingest_events(scope=scope, stream_id="chat", force_flush=True)
    await operation.wait()


async def main() -> None:
    url = os.environ.get("STREAMBANK_URL", "http://127.0.0.1:8080")
    scope = {"user_id": f"koog-{uuid4()}"}
    async with AsyncStreambank(url, token=os.environ.get("STREAMBANK_TOKEN", "local")) as client:
        bank = client.bank("default")
        # The memory survives a service that is away, so that this program would not notice it until its end.
        await bank.get()
        # After 20 messages, or once five minutes have passed without a message.
        rule = GenerationRule(event_count=20, idle_duration=timedelta(minutes=5))
        storage = AsyncStreambankStorage(bank, scope=scope, stream_id="chat", generation_rule=rule)
        memory = LongTermMemory(
            ingestion=IngestionSettings(
                storage=storage,
                extraction_strategy=without_addresses,
                timing=IngestionTiming.ON_AGENT_COMPLETION,
            ),
            retrieval=RetrievalSettings(storage=storage, top_k=3, augmenter=UserPromptAugmenter()),
        )
        print("first run:", await converse(memory, "I live in Graz, and my address is ada@example.com."))
        await flush(bank, scope)
        print("second run:", await converse(memory, "Where do I live?"))
        for result in await storage.search(SearchRequest(query="Where does the user live?", top_k=1)):
            print(f"by hand: {result.document.content} ({result.score:.2f})")


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except StreambankError as error:
        sys.exit(f"Streambank: {error} (`make run` starts it on this machine; STREAMBANK_URL names another service)")
