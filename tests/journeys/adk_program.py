"""Remembers and finds as ADK does: `python adk_program.py URL USER`, for the interpreter that has google-adk."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from google.adk.events import Event
from google.adk.memory import BaseMemoryService
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions import InMemorySessionService, Session
from google.genai import types

from streambank_client.adk import StreambankMemoryService

APP = "app"


def said(author: str, *parts: types.Part, **more: Any) -> Event:
    role = "user" if author == "user" else "model"
    return Event(author=author, invocation_id="1", content=types.Content(role=role, parts=list(parts)), **more)


async def conversation(user: str) -> Session:
    """Return a session of two turns, with what must not be remembered among them."""
    sessions = InMemorySessionService()
    session = await sessions.create_session(app_name=APP, user_id=user, session_id="a/session: 1")
    secret = types.Part(
        function_response=types.FunctionResponse(name="adk_request_credential", response={"token": "s"})
    )
    for event in (
        said("user", types.Part(text="I am allergic to peanuts.")),
        said("agent", types.Part(text="Not"), partial=True),
        said("agent", types.Part(text="Noted.")),
        said("user", secret),
        Event(author="agent", invocation_id="1"),
        said("user", types.Part(text="x" * 400_000)),
    ):
        session.events.append(event)
    return session


async def facts(memory: StreambankMemoryService, user: str, query: str = "allergies") -> list[str]:
    found = await memory.search_memory(app_name=APP, user_id=user, query=query)
    return [entry.content.parts[0].text for entry in found.memories]


async def is_remembered(memory: StreambankMemoryService, user: str) -> bool:
    """Tell whether there are memories, and no message waits any more: it would be in one search and not in the next."""
    found = await memory.search_memory(app_name=APP, user_id=user, query="allergies")
    return bool(found.memories) and not any((one.custom_metadata or {}).get("pending") for one in found.memories)


async def by_tool(memory: StreambankMemoryService, user: str) -> list[str]:
    """Return what the tool that agents are given finds."""
    from google.adk.agents import LlmAgent
    from google.adk.agents.invocation_context import InvocationContext
    from google.adk.tools.load_memory_tool import load_memory
    from google.adk.tools.tool_context import ToolContext

    sessions = InMemorySessionService()
    session = await sessions.create_session(app_name=APP, user_id=user)
    context = InvocationContext(
        invocation_id="1",
        agent=LlmAgent(name="agent"),
        session=session,
        session_service=sessions,
        memory_service=memory,
    )
    found = await load_memory("allergies", ToolContext(context))
    return [entry.content.parts[0].text for entry in found.memories]


async def main(url: str, user: str) -> dict[str, Any]:
    memory = StreambankMemoryService(url, key="local")
    told: dict[str, Any] = {"is a memory service": isinstance(memory, BaseMemoryService)}
    session = await conversation(user)
    for _ in range(2):
        await memory.add_session_to_memory(session)
    while not await is_remembered(memory, user):
        await asyncio.sleep(0.1)
    told["found"] = await facts(memory, user)
    told["found of another user"] = await facts(memory, f"{user}-other")
    told["found by the agent's tool"] = await by_tool(memory, user)
    return told | await added(memory, f"{user}-added")


async def added(memory: StreambankMemoryService, user: str) -> dict[str, Any]:
    """Store a fact twice under one id, and delete it, first as somebody else."""
    text = types.Content(parts=[types.Part(text="Has a dog.")])
    entry = MemoryEntry(id="entry-1", content=text, custom_metadata={"source": "test"})
    for _ in range(2):
        await memory.add_memory(app_name=APP, user_id=user, memories=[entry])
    [found] = (await memory.search_memory(app_name=APP, user_id=user, query=" ")).memories
    await memory.delete_memory(app_name=APP, user_id="somebody else", memory_id=found.id)
    left = len(await facts(memory, user))
    for _ in range(2):
        await memory.delete_memory(app_name=APP, user_id=user, memory_id=found.id)
    return {
        "added": [found.content.parts[0].text, found.custom_metadata],
        "left after deletion by another user": left,
        "left after deletion": len(await facts(memory, user)),
    }


print(json.dumps(asyncio.run(main(*sys.argv[1:]))))
