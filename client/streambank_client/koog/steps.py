"""Work that is written once for both worlds: a generator says what to call, a driver calls it, or awaits it."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ask:
    """Call this and go on with its result; what *may_block* is kept out of an event loop's thread."""

    call: Callable[[], Any]
    may_block: bool = False


class MustBeAwaited(TypeError):
    """A synchronous function met something asynchronous: a fault of the program, whatever a policy says."""


Steps: TypeAlias = Generator[Ask, Any, T]


def drive(steps: Steps[T]) -> T:
    """Carry out *steps* and return their result.

    Raises:
        MustBeAwaited: a step would have to be awaited.
    """
    try:
        ask = next(steps)
        while True:
            try:
                result = _called(ask)
            except BaseException as error:  # noqa: BLE001 - the steps decide what an error means
                ask = steps.throw(error)
            else:
                ask = steps.send(result)
    except StopIteration as end:
        value: T = end.value
        return value


async def drive_async(steps: Steps[T]) -> T:
    """Carry out *steps*, awaiting what has to be awaited, and return their result."""
    try:
        ask = next(steps)
        while True:
            try:
                result = await _awaited(ask)
            except BaseException as error:  # noqa: BLE001 - the steps decide what an error means
                ask = steps.throw(error)
            else:
                ask = steps.send(result)
    except StopIteration as end:
        value: T = end.value
        return value


def is_asynchronous(method: Callable[..., Any]) -> bool:
    """Tell whether *method* is declared to be awaited."""
    return inspect.iscoroutinefunction(method) or inspect.iscoroutinefunction(getattr(method, "__call__", None))  # noqa: B004


def _called(ask: Ask) -> Any:
    result = ask.call()
    if inspect.isawaitable(result):
        if inspect.iscoroutine(result):
            result.close()
        raise MustBeAwaited("what is asynchronous takes an async model function and `async with`")
    return result


async def _awaited(ask: Ask) -> Any:
    result = await asyncio.to_thread(ask.call) if ask.may_block else ask.call()
    return await result if inspect.isawaitable(result) else result
