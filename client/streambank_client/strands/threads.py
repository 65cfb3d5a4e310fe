"""Functions in threads of their own: no event loop owns them, so that no loop can cancel them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def start(work: Callable[[], T], *, name: str) -> Future[T]:
    """Run *work* in a new thread; the interpreter waits for it before it ends.

    Each call has a thread of its own: a pool that was used before a fork runs nothing after it.

    Raises:
        RuntimeError: the interpreter is ending and starts no more threads.
    """
    future: Future[T] = Future()
    future.set_running_or_notify_cancel()
    threading.Thread(target=_run, args=(future, work), name=name, daemon=False).start()
    return future


def _run(future: Future[T], work: Callable[[], T]) -> None:
    try:
        result = work()
    except BaseException as error:  # noqa: BLE001 - it is raised to the caller of result()
        future.set_exception(error)
    else:
        future.set_result(result)


async def wait_uncancelled(future: Future[T]) -> T:
    """Return the result of *future*; a cancellation is ignored until there is one.

    `asyncio.run` cancels all other tasks when its coroutine has ended. A write in such a task would be cancelled too,
    shielded or not; this function waits for the end of the write instead.
    """
    waiting = asyncio.wrap_future(future)
    while not waiting.done():
        try:
            await asyncio.wait([waiting])
        except asyncio.CancelledError:
            continue
    return waiting.result()


async def wait(future: Future[T]) -> T:
    """Return the result of *future*; a cancellation ends the waiting, but not the thread."""
    waiting = asyncio.wrap_future(future)
    await asyncio.wait([waiting])
    return waiting.result()
