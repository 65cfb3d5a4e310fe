"""An agent with memory in a process of its own: `python -m tests.journeys.strands_program URL USER FOLDER`.

It takes a turn for each line of standard input, and tells when one began, was stored, and ended. In FOLDER it keeps its
conversation; "" keeps none.
"""

from __future__ import annotations

import sys
from typing import Any

from strands import Agent
from strands.memory import MemoryManager
from strands.session.file_session_manager import FileSessionManager

from streambank_client import Streambank
from streambank_client.strands import StreambankMemoryStore
from tests.client.strands.scripted import Scripted


class Telling(StreambankMemoryStore):
    """Tells what was stored as soon as that is known."""

    async def add_messages(self, messages: Any, context: Any = None) -> Any:
        taken = await super().add_messages(messages, context)
        for message in messages:
            print("stored", message["content"][0]["text"], flush=True)
        return taken


def main(url: str, user: str, folder: str) -> None:
    rule = {"event_count": 10_000}
    store = Telling(client=Streambank(url, token="local"), scope={"user_id": user}, generation_rule=rule)
    session = FileSessionManager(session_id="s", storage_dir=folder) if folder else None
    agent = Agent(
        model=Scripted(),
        memory_manager=MemoryManager([store], injection=False),
        session_manager=session,
        callback_handler=None,
    )
    print("ready", len(agent.messages), flush=True)
    for line in sys.stdin:
        print("begun", line.strip(), flush=True)
        agent(line.strip())
        print("ended", line.strip(), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
