"""A session of the OpenAI Agents SDK, against the whole service, with several writers and lost replies."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import httpx
import pytest

from streambank_client import AsyncStreambank, errors
from streambank_client.chat import Feed
from streambank_client.openai_agents import MAX_ATTEMPTS, StreambankSession, recall
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
    """Loses the reply, or the request, of each second store or append."""

    def __init__(self, *, is_carried_out: bool) -> None:
        super().__init__()
        self.is_carried_out = is_carried_out
        self.stores = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        is_store = request.method == "PUT" or request.url.path.endswith(":append")
        self.stores += is_store
        is_lost = is_store and self.stores % 2
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


def test_an_addition_sends_what_is_new(service: LocalService) -> None:
    """No addition reads or sends the items that are there: one request of its own size."""
    sent: list[tuple[str, int]] = []

    class Watched(httpx.AsyncHTTPTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            sent.append((request.method, len(request.content)))
            return await super().handle_async_request(request)

    async def work(session: StreambankSession) -> None:
        for number in range(10):
            await session.add_items([item(number)])

    run(service, work, transport=Watched())
    assert {method for method, _ in sent} == {"POST"}
    assert max(size for _, size in sent) < 200


CALL = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "look_up", "arguments": "{}"}
RESULT = {"type": "function_call_output", "call_id": "c1", "output": "I live on Mars."}


def test_a_feed_learns_of_each_item_once(service: LocalService) -> None:
    """Memories are made of what was added, once, not of tools and not of items that are there; popping forgets none."""

    async def running() -> list[str]:
        async with AsyncStreambank(service.base_url, token="local") as client:
            scope = {"user_id": f"fed {next(_ids)}"}
            feed = Feed(client.bank(), scope=scope, generation_rule={"event_count": 100})
            session = StreambankSession(client.bank(), scope["user_id"], feed=feed)
            await session.add_items([{"role": "user", "content": "I live in Graz."}, CALL, RESULT])
            await session.add_items([{"role": "user", "content": "I keep bees."}])
            await session.pop_item()
            assert (feed.counts.failed, feed.counts.refused) == (0, 0)
            done = await client.bank().ingest_events(scope=scope, stream_id=session.session_id, force_flush=True)
            await done.wait()
            found = await client.bank().retrieve_memories(scope=scope)
            return [row.memory.fact for row in found]

    facts = asyncio.run(running())
    assert len(facts) == 2
    assert [fact for fact in facts if "Mars" in fact] == []


def test_a_feed_needs_a_scope() -> None:
    """A session whose turns could never be learnt is refused when it is made."""
    bank = script().async_client().bank()
    with pytest.raises(ValueError, match="scope"):
        StreambankSession(bank, "c", feed=Feed(bank))


@dataclass
class ModelInput:
    """The SDK's `ModelInputData`, as far as a filter sees it."""

    input: list[dict[str, Any]]
    instructions: str | None


@dataclass
class CallData:
    """The SDK's `CallModelData`, as far as a filter sees it."""

    model_data: ModelInput


def test_memories_are_in_the_instructions_of_one_call(service: LocalService) -> None:
    """What is nearest to the user's last text is recalled, escaped, and the input itself is not changed."""

    async def running() -> tuple[ModelInput, ModelInput]:
        async with AsyncStreambank(service.base_url, token="local") as client:
            scope = {"user_id": f"recalling {next(_ids)}"}
            await client.bank().create_memory(scope=scope, fact="I live in <Graz>")
            data = CallData(ModelInput([{"role": "user", "content": "Where do I live?"}, CALL, RESULT], "Be helpful."))
            recalled = await recall(client.bank(), scope=scope)(data)
            nobody = await recall(client.bank(), scope={"user_id": "nobody"})(data)
            assert data.model_data.instructions == "Be helpful."
            return recalled, nobody

    recalled, nobody = asyncio.run(running())
    assert (nobody.instructions, len(recalled.input)) == ("Be helpful.", 3)
    assert recalled.instructions is not None
    assert recalled.instructions.startswith("Be helpful.\n\n<streambank-memory>")
    assert "- I live in &lt;Graz&gt;" in recalled.instructions


def test_a_search_that_fails_calls_the_model_without_memories() -> None:
    """An agent goes on while the service is away, and nothing is searched without a text of the user."""
    seam = script(refused(503, "UNAVAILABLE"))

    async def running() -> None:
        async with seam.async_client(retries=0) as client:
            filtered = recall(client.bank(), scope={"user_id": "7"})
            for items in ([{"role": "user", "content": "Hi"}], [RESULT]):
                data = CallData(ModelInput(items, None))
                assert await filtered(data) is data.model_data

    asyncio.run(running())
    assert len(seam.asked) == 1


def test_other_writers_may_win_for_ever() -> None:
    """The attempts are bounded, and the end of them has a name."""
    seam = script(
        *[reply({"conversationId": "c", "messages": [item(1)], "etag": '"1"'}), refused(412, "FAILED_PRECONDITION")]
        * (2 * MAX_ATTEMPTS)
    )

    async def pop() -> None:
        async with seam.async_client() as client:
            await StreambankSession(client.bank(), "c").pop_item()

    with pytest.raises(errors.Unavailable, match="other writers"):
        asyncio.run(pop())
    assert len(seam.asked) == 2 * MAX_ATTEMPTS
