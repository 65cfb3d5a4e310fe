"""A chat over any endpoint that speaks OpenAI's chat completions, with a tool and with long-term memory.

    python docs/examples/openai_loop.py ada monday < questions.txt

Each line of the input is what the user says; the first argument is the user, the second the conversation.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from streambank_client import Bank, GenerationRule, Streambank
from streambank_client.errors import StreambankError
from streambank_client.koog import IngestionSettings, LongTermMemory, RetrievalSettings, Run, StreambankStorage

Message = dict[str, Any]
INSTRUCTIONS = "You are a helpful assistant. What you know of the user from earlier conversations stands below."
# After 20 messages, or once five minutes have passed without a message.
MEMORIES_ARE_MADE = GenerationRule(event_count=20, idle_duration=timedelta(minutes=5))
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "today",
            "description": "Tells the date.",
            "parameters": {"type": "object", "properties": {}},
        },
    }
]


def today() -> str:
    return datetime.now(UTC).date().isoformat()


def model_over(http: httpx.Client, model: str) -> Callable[[list[Message]], Message]:
    """Return a function that asks the model for its next message."""

    def ask(messages: list[Message]) -> Message:
        reply = http.post("/chat/completions", json={"model": model, "messages": messages, "tools": TOOLS})
        message: Message = reply.raise_for_status().json()["choices"][0]["message"]
        return message

    return ask


def answer(ask: Callable[[list[Message]], Message], messages: list[Message]) -> str:
    """Let the model call tools until it answers; all of it is added to *messages*."""
    while True:
        messages.append(ask(messages))
        calls = messages[-1].get("tool_calls") or []
        if not calls:
            return str(messages[-1]["content"])
        messages += [{"role": "tool", "tool_call_id": call["id"], "content": today()} for call in calls]


def remembering(bank: Bank, *, user: str, conversation: str) -> LongTermMemory:
    """Return the memory of one user, fed by one conversation."""
    storage = StreambankStorage(
        bank, scope={"user_id": user}, stream_id=conversation, generation_rule=MEMORIES_ARE_MADE
    )
    return LongTermMemory(
        ingestion=IngestionSettings(storage=storage), retrieval=RetrievalSettings(storage=storage, top_k=5)
    )


def talk(memory: LongTermMemory, ask: Callable[[list[Message]], Message], lines: Iterable[str]) -> None:
    """Answer *lines*; each is a run, in which the model may be called several times."""
    messages: list[Message] = [{"role": "system", "content": INSTRUCTIONS}]
    for line in lines:
        # The messages have no ids, so the run needs to know which of them earlier runs have stored.
        with memory.run(known=messages) as run:
            messages.append({"role": "user", "content": line})
            print(answer(run.wrap(ask), messages))
        report(run)


def report(run: Run) -> None:
    if run.counts.lost or run.counts.refused or run.counts.failed_searches:
        print(f"memory: {run.counts}", file=sys.stderr)


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit("Usage: python docs/examples/openai_loop.py USER CONVERSATION < questions.txt")
    user, conversation = sys.argv[1:]
    base_url = os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1")
    headers = {"authorization": f"Bearer {os.environ.get('OPENAI_API_KEY', '')}"}
    service = os.environ.get("STREAMBANK_URL", "http://127.0.0.1:8080")
    token = os.environ.get("STREAMBANK_TOKEN", "local")
    with (
        Streambank(service, token=token) as client,
        httpx.Client(base_url=base_url, headers=headers, timeout=60) as http,
    ):
        bank = client.bank("default")
        # The memory survives a service that is away, so that this program would not notice it until its end.
        bank.get()
        memory = remembering(bank, user=user, conversation=conversation)
        talk(memory, model_over(http, os.environ.get("MODEL", "gpt-4o-mini")), map(str.strip, sys.stdin))
        # The conversation is over: the next one need not wait until its rule makes memories of it.
        bank.ingest_events(scope={"user_id": user}, stream_id=conversation, force_flush=True).wait()


if __name__ == "__main__":
    try:
        main()
    except StreambankError as error:
        sys.exit(f"Streambank: {error} (`make run` starts it on this machine; STREAMBANK_URL names another service)")
    except httpx.HTTPError as error:
        sys.exit(f"Model: {error} (OPENAI_BASE_URL, OPENAI_API_KEY and MODEL choose the endpoint and its model)")
