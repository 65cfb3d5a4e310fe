"""Strands' MemoryManager on an agent, over its only store that accepts extracted facts without a server."""

from __future__ import annotations

import asyncio

from strands import Agent
from strands.memory import ExtractionConfig, IntervalTrigger, MemoryManager
from strands.models.openai import OpenAIModel
from strands.vended_memory_stores import TestMemoryStore

from benchmarks.peers import drivers
from benchmarks.peers.conversation import turns as conversation
from benchmarks.peers.tool_replies import ASSISTANT_MODEL


def drive(url: str, turns: int) -> list[str]:
    """Talk to an agent: by plain calls for one turn at a time, else awaited, with an extraction each *turns*."""
    extraction = True if turns == 1 else ExtractionConfig(trigger=IntervalTrigger(turns=turns))
    store = TestMemoryStore(name="memory", persist=False, extraction=extraction)
    agent = Agent(
        model=_model(url, ASSISTANT_MODEL),
        aux_model=_model(url, drivers.MODEL),
        memory_manager=MemoryManager(stores=[store]),
        callback_handler=None,
    )
    if turns == 1:
        _call(agent)
    else:
        asyncio.run(_talk(agent))
    return [entry.content for entry in asyncio.run(store.search("my is", {"max_search_results": 1_000}))]


def _call(agent: Agent) -> None:
    for turn in conversation():
        agent(turn.text)


async def _talk(agent: Agent) -> None:
    for turn in conversation():
        await agent.invoke_async(turn.text)
    await agent.memory_manager.flush()


def _model(url: str, name: str) -> OpenAIModel:
    return OpenAIModel(client_args={"base_url": f"{url}/v1", "api_key": "none"}, model_id=name)


if __name__ == "__main__":
    drivers.run(drive, "strands-agents")
