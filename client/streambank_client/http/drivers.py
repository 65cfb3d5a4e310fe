"""Work that is written once and runs in two ways: a generator yields what to call, a driver calls it or awaits it.

A generator of steps does no I/O itself. `run` carries it out and waits, `run_async` carries it out and awaits; what a
step returns or raises goes back into the generator.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Generator, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from streambank_client.http.call import Page

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Invoke:
    """Call a function and go on with its result, or with the result of the awaitable that it returns.

    Under `run_async` a function that *may_block* is called in another thread.
    """

    function: Callable[[], Any]
    may_block: bool = False


Steps: TypeAlias = Generator[Invoke, Any, T]


class MustBeAwaited(TypeError):
    """A synchronous function met an asynchronous one: an error of the program."""


def run(steps: Steps[T], *, finishes_coroutines: bool = False) -> T:
    """Carry out *steps*, wait for each, and return their result.

    With *finishes_coroutines*, a coroutine that never has to wait is carried out too.

    Raises:
        MustBeAwaited: a step has to be awaited.
    """
    finish = _finished if finishes_coroutines else _not_awaitable
    try:
        step = next(steps)
        while True:
            try:
                result = finish(step.function())
            except BaseException as error:  # noqa: BLE001 - the generator decides what an error means
                step = steps.throw(error)
            else:
                step = steps.send(result)
    except StopIteration as end:
        value: T = end.value
        return value


async def run_async(steps: Steps[T]) -> T:
    """Carry out *steps*, await what has to be awaited, and return their result."""
    try:
        step = next(steps)
        while True:
            try:
                result = await _result_of(step)
            except BaseException as error:  # noqa: BLE001 - the generator decides what an error means
                step = steps.throw(error)
            else:
                step = steps.send(result)
    except StopIteration as end:
        value: T = end.value
        return value


def iterate(page_at: Callable[[str], Steps[Page[T]]]) -> Iterator[T]:
    """Yield the items of all pages; a page is requested when its first item is needed."""
    token: str | None = ""
    while token is not None:
        page = run(page_at(token))
        yield from page.items
        token = page.next_token or None


async def iterate_async(page_at: Callable[[str], Steps[Page[T]]]) -> AsyncIterator[T]:
    """Yield the items of all pages; a page is requested when its first item is needed."""
    token: str | None = ""
    while token is not None:
        page = await run_async(page_at(token))
        for item in page.items:
            yield item
        token = page.next_token or None


async def resolve(value: T | Awaitable[T]) -> T:
    """Return *value*, or its result if it is an awaitable."""
    return await value if inspect.isawaitable(value) else value


def is_asynchronous(function: Callable[..., Any]) -> bool:
    """Return whether *function* is declared with `async def`."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004


async def _result_of(step: Invoke) -> Any:
    if not step.may_block:
        return await resolve(step.function())
    return await resolve(await asyncio.to_thread(step.function))


def _not_awaitable(result: Any) -> Any:
    if inspect.isawaitable(result):
        if inspect.iscoroutine(result):
            result.close()
        raise MustBeAwaited("the function is asynchronous: it needs an asynchronous caller and `async with`")
    return result


def _finished(result: Any) -> Any:
    """Return *result*, or that of the coroutine that it is, which must not wait for anything."""
    if not inspect.iscoroutine(result):
        return _not_awaitable(result)
    coroutine: Coroutine[Any, Any, Any] = result
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    coroutine.close()
    raise MustBeAwaited("the function has to be awaited: use `async with`")
