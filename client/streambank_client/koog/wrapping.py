"""A model function with memory around it, whatever kind of function it is."""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterator
from contextlib import aclosing
from typing import Any

from streambank_client.koog.runs import Conversation
from streambank_client.koog.steps import drive, drive_async, is_asynchronous


def wrapped(call: Callable[..., Any], *, run: Conversation, frame_text: Callable[[Any], str]) -> Any:
    """Return *call* with what is remembered in its first argument, and with its answer stored."""
    around = _Around(call, run, frame_text)
    if inspect.isasyncgenfunction(call):
        return _named(around.asynchronous_stream, call)
    if is_asynchronous(call):
        return _named(around.asynchronous, call)
    if inspect.isgeneratorfunction(call):
        return _named(around.stream, call)
    return _named(around.plain, call)


def _named(around: Callable[..., Any], call: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of the kind of *around* with the name of *call*."""
    return functools.update_wrapper(functools.partial(around), call)


class _Around:
    """The kinds of functions; a stream that fails, or that nobody reads to its end, leaves nothing."""

    def __init__(self, call: Callable[..., Any], run: Conversation, frame_text: Callable[[Any], str]) -> None:
        self._call = call
        self._run = run
        self._text = frame_text

    def plain(self, messages: Any, /, *args: Any, **options: Any) -> Any:
        answer = self._call(drive(self._run.before_call(messages)), *args, **options)
        if inspect.isawaitable(answer):
            return self._answered(answer)
        if isinstance(answer, AsyncIterator):
            return self._read_async(answer)
        if isinstance(answer, Iterator):
            return self._read(answer)
        drive(self._run.after_call(answer))
        return answer

    async def asynchronous(self, messages: Any, /, *args: Any, **options: Any) -> Any:
        prompt = await drive_async(self._run.before_call(messages))
        return await self._answered(self._call(prompt, *args, **options))

    def stream(self, messages: Any, /, *args: Any, **options: Any) -> Iterator[Any]:
        prompt = drive(self._run.before_call(messages))
        yield from self._read(self._call(prompt, *args, **options))

    async def asynchronous_stream(self, messages: Any, /, *args: Any, **options: Any) -> AsyncIterator[Any]:
        prompt = await drive_async(self._run.before_call(messages))
        async with aclosing(self._read_async(self._call(prompt, *args, **options))) as frames:
            async for frame in frames:
                yield frame

    async def _answered(self, coming: Awaitable[Any]) -> Any:
        answer = await coming
        if isinstance(answer, AsyncIterator):
            return self._read_async(answer)
        await drive_async(self._run.after_call(answer))
        return answer

    def _read(self, frames: Iterator[Any]) -> Iterator[Any]:
        texts = []
        try:
            for frame in frames:
                texts.append(self._heard(frame))
                yield frame
        finally:
            if isinstance(frames, Generator):
                frames.close()
        drive(self._run.after_call("".join(texts)))

    async def _read_async(self, frames: AsyncIterator[Any]) -> AsyncGenerator[Any, None]:
        texts = []
        try:
            async for frame in frames:
                texts.append(self._heard(frame))
                yield frame
        finally:
            if isinstance(frames, AsyncGenerator):
                await frames.aclose()
        await drive_async(self._run.after_call("".join(texts)))

    def _heard(self, frame: Any) -> str:
        return self._text(frame) if self._run.stores else ""
