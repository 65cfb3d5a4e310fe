"""Wraps a model function of any kind with memory."""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterator
from contextlib import aclosing
from typing import Any

from streambank_client.http.drivers import is_asynchronous, run, run_async
from streambank_client.koog.runs import RunMemory


def wrap_model(call: Callable[..., Any], memory: RunMemory, frame_text: Callable[[Any], str]) -> Any:
    """Return *call* with memories added to its first argument, and with its reply stored."""
    wrapper = _Wrapper(call, memory, frame_text)
    if inspect.isasyncgenfunction(call):
        return _named(wrapper.asynchronous_stream, call)
    if is_asynchronous(call):
        return _named(wrapper.asynchronous, call)
    if inspect.isgeneratorfunction(call):
        return _named(wrapper.stream, call)
    return _named(wrapper.plain, call)


def _named(wrapper: Callable[..., Any], call: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of the kind of *wrapper* with the name of *call*."""
    return functools.update_wrapper(functools.partial(wrapper), call)


class _Wrapper:
    """One method for each kind of function; a stream that fails or is not read to its end is not stored."""

    def __init__(self, call: Callable[..., Any], memory: RunMemory, frame_text: Callable[[Any], str]) -> None:
        self._call = call
        self._memory = memory
        self._frame_text = frame_text

    def plain(self, messages: Any, /, *args: Any, **options: Any) -> Any:
        reply = self._call(run(self._memory.before_call(messages)), *args, **options)
        if inspect.isawaitable(reply):
            return self._store_reply(reply)
        if isinstance(reply, AsyncIterator):
            return self._read_async(reply)
        if isinstance(reply, Iterator):
            return self._read(reply)
        run(self._memory.after_call(reply))
        return reply

    async def asynchronous(self, messages: Any, /, *args: Any, **options: Any) -> Any:
        prompt = await run_async(self._memory.before_call(messages))
        return await self._store_reply(self._call(prompt, *args, **options))

    def stream(self, messages: Any, /, *args: Any, **options: Any) -> Iterator[Any]:
        prompt = run(self._memory.before_call(messages))
        yield from self._read(self._call(prompt, *args, **options))

    async def asynchronous_stream(self, messages: Any, /, *args: Any, **options: Any) -> AsyncIterator[Any]:
        prompt = await run_async(self._memory.before_call(messages))
        async with aclosing(self._read_async(self._call(prompt, *args, **options))) as frames:
            async for frame in frames:
                yield frame

    async def _store_reply(self, pending: Awaitable[Any]) -> Any:
        reply = await pending
        if isinstance(reply, AsyncIterator):
            return self._read_async(reply)
        await run_async(self._memory.after_call(reply))
        return reply

    def _read(self, frames: Iterator[Any]) -> Iterator[Any]:
        texts = []
        try:
            for frame in frames:
                texts.append(self._text(frame))
                yield frame
        finally:
            if isinstance(frames, Generator):
                frames.close()
        run(self._memory.after_call("".join(texts)))

    async def _read_async(self, frames: AsyncIterator[Any]) -> AsyncGenerator[Any, None]:
        texts = []
        try:
            async for frame in frames:
                texts.append(self._text(frame))
                yield frame
        finally:
            if isinstance(frames, AsyncGenerator):
                await frames.aclose()
        await run_async(self._memory.after_call("".join(texts)))

    def _text(self, frame: Any) -> str:
        return self._frame_text(frame) if self._memory.stores_replies else ""
