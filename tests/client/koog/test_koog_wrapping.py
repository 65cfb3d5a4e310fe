"""Functions of every kind with memory around them."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import AsyncIterator, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from streambank_client.koog import IngestionSettings, InMemoryStorage, LongTermMemory, RetrievalSettings
from tests.client.koog.agents import AsyncRecording, Model, Recording, texts, user

HELLO = [user("hello")]
BOTH = ["hello", "hi"]


@pytest.fixture
def storage() -> InMemoryStorage:
    return InMemoryStorage()


@pytest.fixture
def memory(storage: InMemoryStorage) -> LongTermMemory:
    return LongTermMemory(ingestion=IngestionSettings(storage=storage))


def test_function_keeps_its_kind_name_and_arguments(memory: LongTermMemory) -> None:
    """What is returned is a function of the same kind and name, which takes the same further arguments."""

    def plain(messages: Any, size: int, *, tone: str) -> str:
        """Answer."""
        return f"{len(messages)} {size} {tone}"

    with memory.run() as run:
        model = Model(["hi"])
        assert run.wrap(plain)(HELLO, 2, tone="dry") == "1 2 dry"
        assert run.wrap(plain).__doc__ == "Answer."
        assert run.wrap(plain).__name__ == "plain"
        assert inspect.iscoroutinefunction(run.wrap(model.asynchronous))
        assert inspect.isasyncgenfunction(run.wrap(model.asynchronous_stream))
        assert inspect.isgeneratorfunction(run.wrap(model.stream))


def test_frames_are_passed_on_as_they_come(memory: LongTermMemory, storage: InMemoryStorage) -> None:
    """A frame reaches the reader before the next one is asked for; the record is made after the last."""
    asked: list[str] = []

    def frames(_: Any) -> Iterator[str]:
        for frame in ("h", "i"):
            asked.append(frame)
            yield frame

    with memory.run() as run:
        stream = run.wrap(frames)(HELLO)
        assert next(stream) == "h"
        assert asked == ["h"]
        assert texts(storage) == ["hello"]
        assert list(stream) == ["i"]
    assert texts(storage) == BOTH


def test_function_may_return_an_iterator(memory: LongTermMemory, storage: InMemoryStorage) -> None:
    """A function that returns an iterator, as OpenAI's client does when it streams, is a stream."""
    with memory.run() as run:
        assert list(run.wrap(lambda _: iter(["h", "i"]))(HELLO)) == ["h", "i"]
    assert texts(storage) == BOTH


def test_coroutine_may_return_an_async_iterator(memory: LongTermMemory, storage: InMemoryStorage) -> None:
    """So is an asynchronous function that returns an asynchronous iterator, and a plain one that returns either."""
    model = Model(["hi"] * 3)

    async def opened(messages: Any) -> AsyncIterator[str]:
        return model.asynchronous_stream(messages)

    async def main() -> None:
        async with memory.run() as run:
            assert "".join([frame async for frame in await run.wrap(opened)(HELLO)]) == "hi"
            plain = run.wrap(lambda messages: model.asynchronous_stream(messages))
            assert "".join([frame async for frame in plain(HELLO)]) == "hi"
            assert await run.wrap(lambda messages: model.asynchronous(messages))(HELLO) == "hi"

    asyncio.run(main())
    assert texts(storage) == [*BOTH, "hi", "hi"]


def test_objects_and_partials_are_functions_too(memory: LongTermMemory, storage: InMemoryStorage) -> None:
    """An object whose call is asynchronous and a partial of a coroutine function are awaited."""

    class Client:
        async def __call__(self, messages: Any) -> str:
            return "hi"

    async def answer(messages: Any, reply: str) -> str:
        return reply

    async def main() -> None:
        async with memory.run() as run:
            assert await run.wrap(Client())(HELLO) == "hi"
            assert await run.wrap(functools.partial(answer, reply="ho"))(HELLO) == "ho"

    asyncio.run(main())
    assert texts(storage) == [*BOTH, "ho"]


def chunk(text: str | None) -> Any:
    return SimpleNamespace(choices=[SimpleNamespace(delta=SimpleNamespace(content=text))])


@pytest.mark.parametrize(
    "frames",
    [
        ["h", "i"],
        [chunk("h"), chunk(None), chunk("i"), SimpleNamespace(choices=[])],
        [
            {"choices": [{"delta": {"content": "h"}}]},
            {"choices": [{"delta": {}}]},
            {"choices": [{"delta": {"content": "i"}}]},
        ],
        [SimpleNamespace(content="h"), SimpleNamespace(content="i")],
    ],
    ids=["texts", "OpenAI's objects", "OpenAI's JSON", "LangChain's chunks"],
)
def test_frames_that_are_understood(memory: LongTermMemory, storage: InMemoryStorage, frames: list[Any]) -> None:
    """Strings and the chunks of OpenAI and LangChain are joined to what was said."""
    with memory.run() as run:
        assert list(run.wrap(lambda _: iter(frames))(HELLO)) == frames
    assert texts(storage) == BOTH


def test_other_frames_need_a_reader(storage: InMemoryStorage) -> None:
    """A frame of another kind is a TypeError that says what to do, unless a reader is given or nothing is stored."""
    settings = IngestionSettings(storage=storage)
    frames = [{"delta": "h"}, {"delta": "i"}]
    with LongTermMemory(ingestion=settings).run() as run, pytest.raises(TypeError, match="frame_text"):
        list(run.wrap(lambda _: iter(frames))(HELLO))
    with LongTermMemory().run() as run:
        assert list(run.wrap(lambda _: iter(frames))(HELLO)) == frames
    with LongTermMemory(ingestion=settings, frame_text=lambda frame: frame["delta"]).run() as run:
        assert list(run.wrap(lambda _: iter(frames))(HELLO)) == frames
    assert texts(storage) == ["hello", *BOTH]


@pytest.mark.parametrize(
    "reply",
    [
        "hi",
        {"role": "assistant", "content": "hi"},
        [{"role": "assistant", "content": "hi"}, {"role": "assistant", "content": None, "tool_calls": []}],
        {"choices": [{"message": {"role": "assistant", "content": "hi"}}]},
        SimpleNamespace(choices=[SimpleNamespace(message={"role": "assistant", "content": "hi"})]),
    ],
    ids=["text", "message", "messages", "OpenAI's JSON", "OpenAI's object"],
)
def test_replies_that_are_understood(memory: LongTermMemory, storage: InMemoryStorage, reply: Any) -> None:
    """A model may answer with a text, a message, several, or OpenAI's whole reply, which is returned as it is."""
    with memory.run() as run:
        assert run.wrap(lambda _: reply)(HELLO) is reply
    assert texts(storage) == BOTH


def test_run_takes_calls_only_while_it_lasts(memory: LongTermMemory) -> None:
    """Before it is entered, after it has ended and a second time a run is a RuntimeError."""
    run = memory.run()
    call = run.wrap(lambda _: "hi")
    with pytest.raises(RuntimeError, match="not entered"):
        call(HELLO)
    with run:
        stream = run.wrap(lambda _: iter(["hi"]))(HELLO)
        with pytest.raises(RuntimeError, match="once"), run:
            pass
    with pytest.raises(RuntimeError, match="ended"):
        call(HELLO)
    with pytest.raises(RuntimeError, match="once"), run:
        pass
    with pytest.raises(RuntimeError, match="streams"):
        list(stream)


def test_asynchronous_storage_takes_asynchronous_functions() -> None:
    """An asynchronous storage under `with`, or under a synchronous function, is a TypeError."""
    memory = LongTermMemory(ingestion=IngestionSettings(storage=AsyncRecording()))
    with pytest.raises(TypeError, match="async with"), memory.run():
        pass
    searching = LongTermMemory(retrieval=RetrievalSettings(storage=AsyncRecording()))
    with pytest.raises(TypeError, match="async with"), searching.run():
        pass

    async def main() -> None:
        async with memory.run() as run:
            with pytest.raises(TypeError, match="async"):
                run.wrap(lambda _: "hi")(HELLO)

    asyncio.run(main())


def test_synchronous_storage_does_not_block_the_loop() -> None:
    """Under an asynchronous function a synchronous storage works in another thread, while the loop goes on."""
    turned = asyncio.Event()

    class Waiting(Recording):
        def add(self, documents: Any, namespace: str | None = None) -> list[str]:
            asyncio.run_coroutine_threadsafe(turned.wait(), loop).result(10)
            return super().add(documents, namespace)

    async def main() -> list[Any]:
        nonlocal loop
        loop = asyncio.get_running_loop()
        memory = LongTermMemory(ingestion=IngestionSettings(storage=storage))
        async with memory.run() as run:
            loop.call_soon(turned.set)
            return [await run.wrap(Model(["hi"]).asynchronous)(HELLO)]

    storage, loop = Waiting(), None
    assert asyncio.run(main()) == ["hi"]
    assert len(storage.added) == 2
