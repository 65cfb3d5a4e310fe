"""langmem's store manager as its background quickstart sets it up, over LangGraph's store in memory."""

from __future__ import annotations

import asyncio
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from langgraph.store.memory import InMemoryStore
from langmem import create_memory_store_manager

from benchmarks.peers import drivers
from benchmarks.peers.conversation import Message, batches

NAMESPACE = ("memories",)
MESSAGES: dict[str, Any] = {"user": HumanMessage, "assistant": AIMessage}


def drive(url: str, turns: int) -> list[str]:
    """Invoke the manager with *turns* at a time."""
    return asyncio.run(_drive(f"{url}/v1", turns))


async def _drive(url: str, turns: int) -> list[str]:
    store = InMemoryStore(index={"dims": drivers.DIMENSIONS, "embed": _embedder(url)})
    model = ChatOpenAI(model=drivers.MODEL, base_url=url, api_key="none")
    manager = create_memory_store_manager(model, namespace=NAMESPACE, store=store)
    for batch in batches(turns):
        await manager.ainvoke({"messages": [_message(one) for one in batch]})
    items = await store.asearch(NAMESPACE, limit=1_000)
    return [item.value["content"]["content"] for item in items]


def _message(one: Message) -> Any:
    return MESSAGES[one.role](one.text)


def _embedder(url: str) -> OpenAIEmbeddings:
    # Texts in place of tokens: the tokenizer would be downloaded.
    return OpenAIEmbeddings(
        model=drivers.EMBEDDER,
        base_url=url,
        api_key="none",
        dimensions=drivers.DIMENSIONS,
        check_embedding_ctx_length=False,
    )


if __name__ == "__main__":
    drivers.run(drive, "langmem")
