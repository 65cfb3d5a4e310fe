"""A Strands agent that remembers its user.

    pip install './client[strands]'
    STREAMBANK_URL=http://127.0.0.1:8080 STREAMBANK_TOKEN=local python strands_agent.py alice

Its messages are sent to the user's stream, the service makes memories of them, and those that match a question are
added to the prompt of the model.
"""

from __future__ import annotations

import asyncio
import os
import sys
from datetime import timedelta

try:
    from strands import Agent
    from strands.memory import MemoryManager
    from strands.models import Model
except ModuleNotFoundError:
    sys.exit("Strands is not installed; install it with: pip install './client[strands]'")

from streambank_client import GenerationRule, Streambank
from streambank_client.errors import StreambankError
from streambank_client.strands import StreambankMemoryStore


def remembering_agent(client: Streambank, *, user: str, session: str, model: Model | None = None) -> Agent:
    """Return an agent with a store of its own: the user's memories, and a stream for this conversation."""
    store = StreambankMemoryStore(
        client=client,
        scope={"user_id": user},
        stream_id=session,
        description="What is known about the user from earlier conversations",
        # The service makes memories after ten messages, or once five minutes have passed without a message.
        generation_rule=GenerationRule(event_count=10, idle_duration=timedelta(minutes=5)),
    )
    return Agent(model=model, memory_manager=MemoryManager([store]), callback_handler=None)


async def handle(agent: Agent, question: str) -> str:
    """Answer one request: its turn is stored before the answer goes out, however soon the event loop ends."""
    try:
        return str(await agent.invoke_async(question))
    finally:
        if agent.memory_manager is not None:
            await agent.memory_manager.flush()


def connect() -> Streambank:
    """Return a client that gives up after ten seconds, so that no turn waits longer for a service that is away."""
    return Streambank(os.environ["STREAMBANK_URL"], token=os.environ["STREAMBANK_TOKEN"], timeout_seconds=10)


def main(user: str, model: Model | None = None) -> None:
    """Talk on the terminal until the input ends; without a *model* Strands takes its own default."""
    with connect() as client:
        # The agent survives a service that is away, so that this program would not notice it.
        client.bank().get()
        agent = remembering_agent(client, user=user, session="terminal", model=model)
        for line in sys.stdin:
            print(asyncio.run(handle(agent, line)))


if __name__ == "__main__":
    if len(sys.argv) != 2 or not {"STREAMBANK_URL", "STREAMBANK_TOKEN"} <= os.environ.keys():
        sys.exit("Usage: STREAMBANK_URL=http://127.0.0.1:8080 STREAMBANK_TOKEN=local python strands_agent.py USER")
    try:
        main(sys.argv[1])
    except StreambankError as error:
        sys.exit(f"Streambank: {error} (`make run` starts it on this machine; STREAMBANK_URL names another service)")
