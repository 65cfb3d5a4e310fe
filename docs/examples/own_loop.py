"""A chat loop without a framework that remembers its user, by the memory manager and a function that calls a model."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from streambank_client import Streambank
from streambank_client.formats import render_memories
from streambank_client.strands import BankStore, InvocationTrigger, StreambankMemoryManager

Message = dict[str, Any]


def text_message(role: str, text: str) -> Message:
    """Return a message in the shape of Strands, which is what the store reads."""
    return {"role": role, "content": [{"text": text}]}


def chat(
    questions: Iterable[str], *, client: Streambank, user: str, ask: Callable[[list[Message]], str]
) -> Iterator[str]:
    """Yield an answer to each of *questions*; *ask* calls the model with the messages so far."""
    scope = {"user_id": user}
    manager = StreambankMemoryManager(
        [BankStore(client=client, scope=scope, extraction={"trigger": InvocationTrigger()})]
    )
    agent, history = manager.attach(), list[Message]()

    def add(message: Message) -> None:
        history.append(message)
        agent.message_added(message)

    for question in questions:
        known = client.bank().retrieve_memories(scope=scope, query=question, top_k=5)
        add(text_message("user", question))
        # What is recalled stands before the conversation for this call alone: it is no part of it.
        recalled = [text_message("user", render_memories(known))] if known else []
        add(text_message("assistant", ask(recalled + history)))
        agent.invocation_ended()
        yield history[-1]["content"][0]["text"]
    report = manager.flush_sync(timeout_seconds=10)
    if report.failed:
        raise RuntimeError(f"{report.failed} messages are not saved: {dict(report.errors)}")


if __name__ == "__main__":
    sys.exit("This file is to be imported: call `chat` with your client, a user and a function that asks your model.")
