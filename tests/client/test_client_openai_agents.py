"""A session of the OpenAI Agents SDK, against the whole service, with several writers and lost replies."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from itertools import count
from typing import Any

import httpx
import pytest

from streambank_client import AsyncStreambank, errors
from streambank_client.openai_agents import MAX_ATTEMPTS, StreambankSession
from streambank_local.service import LocalService
from tests.client.answering import refused, reply, script

_ids = count(1)


@pytest.fixture(scope="module")
def service() -> Iterator[LocalService]:
    with LocalService(timer_enabled=False) as service:
        yield service


def item(number: int) -> dict[str, Any]:
    return {"role": "user", "content": f"line {number}", "more": {"nested": [number, None, 1.5]}}


def run(service: LocalService, work: Callable[[StreambankSession], Awaitable[Any]], **settings: Any) -> Any:
    async def running() -> Any:
        async with AsyncStreambank(service.base_url, token="local", **settings) as client:
            return await work(StreambankSession(client.bank(), f"conversation {next(_ids)}"))

    return asyncio.run(running())


def test_items_come_back_in_their_order(service: LocalService) -> None:
    """Items are added, limited, taken away and cleared as the SDK's own sessions do it."""

    async def work(session: StreambankSession) -> None:
        assert await session.get_items() == []
        assert await session.pop_item() is None
        await session.add_items([])
        await session.add_items([item(1), item(2)])
        await session.add_items([item(3)])
        assert await session.get_items() == [item(1), item(2), item(3)]
        assert await session.get_items(2) == [item(2), item(3)]
        assert await session.get_items(0) == []
        assert await session.pop_item() == item(3)
        assert await session.get_items(9) == [item(1), item(2)]
        await session.clear_session()
        assert await session.get_items() == []
        await session.add_items([item(4)])
        assert await session.get_items() == [item(4)]

    run(service, work)


def test_writers_do_not_overwrite_each_other(service: LocalService) -> None:
    """Three sessions of one conversation add at once: all items are there, each pair together, each once."""

    async def work(session: StreambankSession) -> list[dict[str, Any]]:
        sessions = [StreambankSession(session._bank, session.session_id) for _ in range(3)]
        pairs = [[item(2 * n), item(2 * n + 1)] for n in range(6)]
        await asyncio.gather(*(sessions[n % 3].add_items(pair) for n, pair in enumerate(pairs)))
        return await session.get_items()

    items = run(service, work)
    numbers = [one["more"]["nested"][0] for one in items]
    assert sorted(numbers) == list(range(12))
    assert [number + 1 for number in numbers[::2]] == numbers[1::2]


class LosesReplies(httpx.AsyncHTTPTransport):
    """Loses the reply, or the request, of each second store."""

    def __init__(self, *, is_carried_out: bool) -> None:
        super().__init__()
        self.is_carried_out = is_carried_out
        self.stores = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.stores += request.method == "PUT"
        is_lost = request.method == "PUT" and self.stores % 2
        if not is_lost or self.is_carried_out:
            response = await super().handle_async_request(request)
        if is_lost:
            raise httpx.ReadError("lost")
        return response


@pytest.mark.parametrize("is_carried_out", [True, False])
def test_a_lost_reply_doubles_nothing(service: LocalService, is_carried_out: bool) -> None:
    """Where it is unknown whether a change was carried out, it takes effect once."""

    async def work(session: StreambankSession) -> None:
        await session.add_items([item(1)])
        await session.add_items([item(1)])
        await session.add_items([item(2)])
        assert await session.get_items() == [item(1), item(1), item(2)]
        assert await session.pop_item() == item(2)
        assert await session.pop_item() == item(1)
        assert await session.get_items() == [item(1)]

    run(service, work, transport=LosesReplies(is_carried_out=is_carried_out))


def test_other_writers_may_win_for_ever() -> None:
    """The attempts are bounded, and the end of them has a name."""
    seam = script(*[reply({"conversationId": "c"}), refused(412, "FAILED_PRECONDITION")] * (2 * MAX_ATTEMPTS))

    async def add() -> None:
        async with seam.async_client() as client:
            await StreambankSession(client.bank(), "c").add_items([item(1)])

    with pytest.raises(errors.Unavailable, match="other writers"):
        asyncio.run(add())
    assert len(seam.asked) == 2 * MAX_ATTEMPTS
