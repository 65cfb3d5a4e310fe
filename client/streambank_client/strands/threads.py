"""Work in threads of its own: no event loop owns it, so that none can cancel it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def begin(work: Callable[[], T], *, name: str) -> Future[T]:
    """Run *work* in a new thread, which the interpreter waits for before it ends.

    A thread for each call, no pool: a pool that was used before a fork never runs anything after it.

    Raises:
        RuntimeError: the interpreter is ending and starts no thread any more.
    """
    future: Future[T] = Future()
    future.set_running_or_notify_cancel()
    threading.Thread(target=_run, args=(future, work), name=name, daemon=False).start()
    return future


def _run(future: Future[T], work: Callable[[], T]) -> None:
    try:
        result = work()
    except BaseException as error:  # noqa: BLE001 - it is raised where the result is asked for
        future.set_exception(error)
    else:
        future.set_result(result)


async def settled(future: Future[T]) -> T:
    """Return the result of *future*; a cancellation waits for it too and is taken for done.

    `asyncio.run` cancels what is left when its coroutine has ended: an own task would be cancelled with it, shielded or
    not, and the write with that. Who waits here ends with the write instead.
    """
    waiting = asyncio.wrap_future(future)
    while not waiting.done():
        try:
            await asyncio.wait([waiting])
        except asyncio.CancelledError:
            continue
    return waiting.result()


async def interruptible(future: Future[T]) -> T:
    """Return the result of *future*; a cancellation gives up the waiting, not the work."""
    waiting = asyncio.wrap_future(future)
    await asyncio.wait([waiting])
    return waiting.result()
