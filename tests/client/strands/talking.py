"""Stores that an application could have written, and what an agent says to them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from streambank_client.strands.stores import AddMessagesContext
from streambank_client.strands.triggers import IntervalTrigger
from streambank_client.strands.types import ExtractionResult, ExtractorContext

Message = dict[str, Any]


def user(text: str, **more: Any) -> Message:
    return {"role": "user", "content": [{"text": text}], **more}


def assistant(text: str, **more: Any) -> Message:
    return {"role": "assistant", "content": [{"text": text}], **more}


def text_of(message: Message) -> str:
    found: str = message["content"][0]["text"]
    return found


def turn(agent: Any, number: int) -> None:
    """Let an attached agent live through a turn: a question, an answer, the end."""
    agent.message_added(user(f"q{number}"))
    agent.message_added(assistant(f"a{number}"))
    agent.invocation_ended()


class Steps:
    """A clock that moves when it is told."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass(eq=False)
class Batches:
    """A store that takes messages and keeps each batch it was given; *before* may block it or make it fail.

    Unless it is told otherwise, its messages wait for a flush.
    """

    name: str = "memory"
    writable: bool = True
    extraction: Any = field(default_factory=lambda: {"trigger": IntervalTrigger(10**6)})
    before: Callable[[Sequence[Message]], None] = lambda _: None
    tried: list[list[int]] = field(default_factory=list)
    taken: list[Message] = field(default_factory=list)
    contexts: list[AddMessagesContext] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0

    async def add_messages(self, messages: list[Message], context: AddMessagesContext) -> None:
        self.tried.append(list(context.sequence_numbers or ()))
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            self.before(messages)
            await asyncio.sleep(0)
        finally:
            self.at_once -= 1
        self.taken += messages
        self.contexts.append(context)

    @property
    def texts(self) -> list[str]:
        return [text_of(message) for message in self.taken]


@dataclass(eq=False)
class Facts:
    """A store that takes single facts, and none that is in *refused*."""

    extraction: Any
    name: str = "facts"
    writable: bool = True
    refused: set[str] = field(default_factory=set)
    taken: list[str] = field(default_factory=list)

    async def add(self, content: str, metadata: Any = None) -> None:
        if content in self.refused:
            raise ConnectionError(content)
        self.taken.append(content)


@dataclass(eq=False)
class Shouting:
    """An extractor that takes each message for a fact."""

    calls: list[list[str]] = field(default_factory=list)
    contexts: list[ExtractorContext | None] = field(default_factory=list)

    async def extract(self, messages: list[Any], context: ExtractorContext | None = None) -> list[ExtractionResult]:
        texts = [text_of(message) for message in messages]
        self.calls.append(texts)
        self.contexts.append(context)
        return [ExtractionResult(text.upper()) for text in texts]


class Outage:
    """Fails until it is over."""

    def __init__(self, error: BaseException | None = None, times: int = 10**9) -> None:
        self.error, self.left = error or ConnectionError("down"), times

    def __call__(self, _: object) -> None:
        if self.left:
            self.left -= 1
            raise self.error


class Gate:
    """Lets nothing pass until it is opened, and tells when something waits."""

    def __init__(self) -> None:
        self.reached, self.opened = threading.Event(), threading.Event()

    def __call__(self, _: object) -> None:
        self.reached.set()
        assert self.opened.wait(10)
