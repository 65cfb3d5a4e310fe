"""The pair of drivers: one generator, carried out by waiting or by awaiting, comes to the same."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank_client.http.call import Page
from streambank_client.http.drivers import Invoke, MustBeAwaited, Steps, iterate, iterate_async, run, run_async


def awaited(function: Callable[[], Any]) -> Callable[[], Any]:
    """Return *function* as one that has to be awaited."""

    async def coroutine() -> Any:
        await asyncio.sleep(0)
        return function()

    return coroutine


def doubled(numbers: list[int], wrap: Callable[[Any], Any] = lambda function: function) -> Steps[list[Any]]:
    """Double each number; a negative one is an error, which is kept in its place."""
    results: list[Any] = []

    def double(number: int) -> int:
        if number < 0:
            raise ValueError(number)
        return number * 2

    for number in numbers:
        try:
            results.append((yield Invoke(wrap(lambda number=number: double(number)))))
        except ValueError as error:
            results.append(error.args[0])
    return results


@given(st.lists(st.integers(-5, 5)))
def test_both_drivers_come_to_the_same(numbers: list[int]) -> None:
    """Results and errors of steps go back into the generator, whoever carries it out and whatever it calls."""
    expected = [number * 2 if number >= 0 else number for number in numbers]
    assert run(doubled(numbers)) == expected
    assert asyncio.run(run_async(doubled(numbers))) == expected
    assert asyncio.run(run_async(doubled(numbers, awaited))) == expected


def test_error_that_nobody_handles_is_raised() -> None:
    """An error that the generator does not handle is the caller's, with its own type."""

    def fail() -> None:
        raise KeyError("k")

    def steps() -> Steps[None]:
        yield Invoke(fail)

    with pytest.raises(KeyError):
        run(steps())
    with pytest.raises(KeyError):
        asyncio.run(run_async(steps()))


def test_waiting_driver_awaits_nothing() -> None:
    """An asynchronous function under the waiting driver is an error, unless it is allowed and never has to wait."""

    async def at_once() -> int:
        return 1

    def steps(function: Callable[[], Any]) -> Steps[int]:
        return (yield Invoke(function))

    with pytest.raises(MustBeAwaited):
        run(steps(at_once))
    assert run(steps(at_once), finishes_coroutines=True) == 1
    assert run(steps(lambda: 2), finishes_coroutines=True) == 2

    async def later() -> int:
        await asyncio.Future(loop=loop)
        return 1

    loop = asyncio.new_event_loop()
    try:
        with pytest.raises(MustBeAwaited):
            run(steps(later), finishes_coroutines=True)
    finally:
        loop.close()


def test_blocking_step_has_a_thread() -> None:
    """What may block is kept out of the event loop's thread, and runs in the caller's where nothing is awaited."""

    def steps(*, may_block: bool) -> Steps[int]:
        return (yield Invoke(threading.get_ident, may_block=may_block))

    async def main() -> tuple[bool, bool]:
        here = threading.get_ident()
        return await run_async(steps(may_block=True)) == here, await run_async(steps(may_block=False)) == here

    assert asyncio.run(main()) == (False, True)
    assert run(steps(may_block=True)) == threading.get_ident()


def test_cancellation_reaches_the_generator() -> None:
    """A task that is cancelled ends its generator too, which can clean up."""
    ended: list[str] = []

    def steps() -> Steps[None]:
        try:
            yield Invoke(lambda: asyncio.sleep(60))
        finally:
            ended.append("ended")

    async def main() -> None:
        task = asyncio.create_task(run_async(steps()))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert ended == ["ended"]


@given(st.lists(st.lists(st.integers(), max_size=3), min_size=1, max_size=5))
def test_pages_are_one_list(pages: list[list[int]]) -> None:
    """Both iterators yield the items of all pages in order, empty pages included."""

    def page_at(token: str) -> Steps[Page[int]]:
        number = int(token or 0)
        next_token = str(number + 1) if number + 1 < len(pages) else ""
        return Page((yield Invoke(lambda: pages[number])), next_token)

    async def main() -> list[int]:
        return [item async for item in iterate_async(page_at)]

    expected = [item for page in pages for item in page]
    assert list(iterate(page_at)) == expected
    assert asyncio.run(main()) == expected
