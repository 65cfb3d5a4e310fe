"""An agent whose history is LangChain's messages, with long-term memory; it runs without LangChain and without a model.

python docs/examples/langchain_agent.py
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any
from uuid import uuid4

from streambank_client import GenerationRule, Streambank
from streambank_client.errors import StreambankError
from streambank_client.koog import IngestionSettings, LongTermMemory, RetrievalSettings, StreambankStorage

Message = dict[str, Any]
# After 20 messages, or once five minutes have passed without a message.
MEMORIES_ARE_MADE = GenerationRule(event_count=20, idle_duration=timedelta(minutes=5))
INSTRUCTIONS = "You are a helpful assistant."


def message(kind: str, content: str) -> Message:
    """Return what LangChain's `message_to_dict` makes of a message; LangChain gives its messages such ids too."""
    return {"type": kind, "data": {"content": content, "id": str(uuid4())}}


def recite(messages: list[Message]) -> Message:
    """Answer as a model would that does nothing but read out what it remembers."""
    prompt: Mapping[str, Any] = messages[0]["data"]
    known = [line.removeprefix("- ") for line in prompt["content"].splitlines() if line.startswith("- ")]
    return message("ai", f"I remember: {' '.join(known)}" if known else "Noted.")


class Agent:
    """Keeps the history of one conversation and answers with a model."""

    def __init__(self, memory: LongTermMemory, model: Callable[[list[Message]], Message]) -> None:
        self._memory = memory
        self._model = model
        self._history = [message("system", INSTRUCTIONS)]

    def invoke(self, text: str) -> str:
        """Answer *text*; the whole history is the prompt, and what is new of it is stored."""
        self._history.append(message("human", text))
        with self._memory.run() as run:
            # Their ids make it safe that each run sends the whole history: the service takes each message once.
            self._history.append(run.wrap(self._model)(self._history))
        reply: str = self._history[-1]["data"]["content"]
        return reply


def main() -> None:
    url = os.environ.get("STREAMBANK_URL", "http://127.0.0.1:8080")
    scope = {"user_id": f"langchain-{uuid4()}"}
    with Streambank(url, token=os.environ.get("STREAMBANK_TOKEN", "local")) as client:
        bank = client.bank("default")
        # The memory survives a service that is away, so that this program would not notice it until its end.
        bank.get()
        for number, lines in enumerate([["I live in Graz.", "My favorite color is blue."], ["Where do I live?"]]):
            storage = StreambankStorage(
                bank, scope=scope, stream_id=f"conversation-{number}", generation_rule=MEMORIES_ARE_MADE
            )
            memory = LongTermMemory(
                ingestion=IngestionSettings(storage=storage),
                retrieval=RetrievalSettings(storage=storage),
                format="langchain",
            )
            agent = Agent(memory, recite)
            for line in lines:
                print(f"{line} -> {agent.invoke(line)}")
            bank.ingest_events(scope=scope, stream_id=f"conversation-{number}", force_flush=True).wait()


if __name__ == "__main__":
    try:
        main()
    except StreambankError as error:
        sys.exit(f"Streambank: {error} (`make run` starts it on this machine; STREAMBANK_URL names another service)")
