"""Scripted models of the four kinds there are, and agents that call them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from streambank_client.koog import InMemoryStorage, LongTermMemory, MemoryRecord, SearchRequest, SearchResult

KINDS = ("plain", "stream", "asynchronous", "asynchronous_stream")
STREAMS = ("stream", "asynchronous_stream")
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
Message = dict[str, Any]


def system(text: str) -> Message:
    return {"role": "system", "content": text}


def user(text: str, **more: Any) -> Message:
    return {"role": "user", "content": text, **more}


def assistant(text: str, **more: Any) -> Message:
    return {"role": "assistant", "content": text, **more}


class Broken(Exception):
    """What goes wrong in these tests."""


@dataclass
class Model:
    """Answers with *replies*, streams each in three frames; *during* is called while it is."""

    replies: Sequence[Any]
    during: Callable[[], None] = lambda: None
    breaks_after_frames: int | None = None
    prompts: list[list[Message]] = field(default_factory=list)

    def plain(self, messages: list[Message]) -> Any:
        self.prompts.append(list(messages))
        self.during()
        if self.breaks_after_frames is not None:
            raise Broken
        return self.replies[len(self.prompts) - 1]

    async def asynchronous(self, messages: list[Message]) -> Any:
        await asyncio.sleep(0)
        return self.plain(messages)

    def stream(self, messages: list[Message]) -> Iterator[str]:
        breaks, self.breaks_after_frames = self.breaks_after_frames, None
        reply = self.plain(messages)
        third = len(reply) // 3
        for number, frame in enumerate([reply[:third], reply[third : 2 * third], reply[2 * third :]]):
            if number == breaks:
                raise Broken
            yield frame

    async def asynchronous_stream(self, messages: list[Message]) -> AsyncIterator[str]:
        for frame in self.stream(messages):
            await asyncio.sleep(0)
            yield frame


def called(run: Any, model: Model, kind: str, messages: list[Message]) -> Any:
    """Call a synchronous model within a run and return its whole answer."""
    answer = run.wrap(getattr(model, kind))(messages)
    return "".join(answer) if kind == "stream" else answer


async def called_async(run: Any, model: Model, kind: str, messages: list[Message]) -> Any:
    """Call an asynchronous model within a run and return its whole answer."""
    answer = run.wrap(getattr(model, kind))(messages)
    return "".join([frame async for frame in answer]) if kind == "asynchronous_stream" else await answer


def play(
    memory: LongTermMemory, model: Model, kind: str, *prompts: list[Message], run_id: str | None = None
) -> list[Any]:
    """Let an agent live through one run, in which it calls its model with each of *prompts*."""
    if kind in ("plain", "stream"):
        with memory.run(run_id) as run:
            return [called(run, model, kind, prompt) for prompt in prompts]
    return asyncio.run(_played(memory, model, kind, *prompts, run_id=run_id))


async def _played(
    memory: LongTermMemory, model: Model, kind: str, *prompts: list[Message], run_id: str | None
) -> list[Any]:
    async with memory.run(run_id) as run:
        return [await called_async(run, model, kind, prompt) for prompt in prompts]


def texts(storage: InMemoryStorage, namespace: str | None = None) -> list[str]:
    return [record.content for record in storage.records(namespace)]


@dataclass
class Recording:
    """A storage that keeps each call, and fails as long as *failure* is set."""

    failure: BaseException | None = None
    added: list[tuple[list[MemoryRecord], str | None]] = field(default_factory=list)
    searched: list[tuple[SearchRequest, str | None]] = field(default_factory=list)
    found: list[SearchResult] = field(default_factory=list)

    def add(self, documents: Any, namespace: str | None = None) -> list[str]:
        self.added.append((list(documents), namespace))
        self._fail()
        return [document.id for document in documents]

    def update(self, documents: Any, namespace: str | None = None) -> list[str]:
        return list(documents)

    def search(self, request: SearchRequest, namespace: str | None = None) -> list[SearchResult]:
        self.searched.append((request, namespace))
        self._fail()
        return self.found

    def _fail(self) -> None:
        if self.failure:
            raise self.failure


class AsyncRecording(Recording):
    """The same, awaited."""

    async def add(self, documents: Any, namespace: str | None = None) -> list[str]:
        await asyncio.sleep(0)
        return super().add(documents, namespace)

    async def search(self, request: SearchRequest, namespace: str | None = None) -> list[SearchResult]:
        await asyncio.sleep(0)
        return super().search(request, namespace)
