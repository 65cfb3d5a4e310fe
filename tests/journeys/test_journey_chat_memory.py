"""Chat memory over HTTP: the common rows, restarts, ends, and what a turn leaves in a stream."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator

import pytest

from streambank.model import ids
from streambank.store import keys
from streambank_client import AsyncStreambank, Streambank
from streambank_client.chat import ChatMemory, Feed, StreambankChatHistoryProvider
from streambank_client.errors import InvalidArgument, PayloadTooLarge
from streambank_local.service import LocalService
from tests.chat_rows import ChatRows, assistant, call, result, run, texts, user
from tests.journeys.caller import Caller

_numbers = itertools.count(1)


@pytest.fixture
def bank(service: LocalService) -> AsyncStreambank:
    return AsyncStreambank(service.base_url, token="local").bank()


@pytest.fixture
def provider(bank):
    return StreambankChatHistoryProvider(bank, format="openai")


@pytest.fixture
def session() -> str:
    return f"memory {next(_numbers)}"


class TestOverHttp(ChatRows):
    """The rows over a bank of the service."""


def test_a_history_survives_its_provider(service: LocalService, provider, session) -> None:
    """Another client, as after a restart, sees what was stored, and its format's label."""
    asyncio.run(run(ChatMemory(provider), session, "Q1"))
    with Streambank(service.base_url, token="local") as client:
        again = ChatMemory(StreambankChatHistoryProvider(client.bank()))
        with again.turn(session) as messages:
            assert messages == [user("Q1"), assistant("re: Q1")]
        provider = StreambankChatHistoryProvider(client.bank(), format="openai")
        with ChatMemory(provider).turn(session, if_match=True) as messages:
            messages.append(user("Q2"))
        found = client.bank().load_chat_history(conversation_id=session)
    assert (texts(found.messages), found.format) == (["Q1", "re: Q1", "Q2"], "openai")


def test_a_history_ends_after_its_ttl(caller: Caller, bank, session) -> None:
    """From its end on a session is unknown; each turn puts the end off."""
    provider = StreambankChatHistoryProvider(bank, ttl_seconds=3_600)
    memory = ChatMemory(provider)
    asyncio.run(run(memory, session, "Q1"))
    caller.pass_unseen(seconds=3_000)
    asyncio.run(run(memory, session, "Q2"))
    caller.pass_unseen(seconds=3_000)
    assert len(asyncio.run(provider.load(session))) == 4
    caller.pass_unseen(seconds=600)
    assert asyncio.run(provider.load(session)) == []
    assert [texts(seen) for seen in asyncio.run(run(memory, session, "Q3", if_match=True))] == [[]]


def test_a_history_that_is_too_large_fails_the_run(provider, session) -> None:
    """More than the service takes is an error by name, and the history stays as it was."""
    memory = ChatMemory(provider)
    asyncio.run(run(memory, session, "Q1"))
    with pytest.raises(PayloadTooLarge):
        asyncio.run(run(memory, session, "x" * 6_000_000))
    assert texts(asyncio.run(provider.load(session))) == ["Q1", "re: Q1"]


def test_a_lifetime_that_is_too_long_is_refused(bank, session) -> None:
    """The service's refusals come out of the turn."""
    with pytest.raises(InvalidArgument) as refused:
        asyncio.run(run(ChatMemory(StreambankChatHistoryProvider(bank, ttl_seconds=10**11)), session, "Q"))
    assert refused.value.field == "ttl"


def test_an_edit_is_learnt(caller: Caller, bank, provider, session) -> None:
    """A message that the user changes later is learnt; sent again, or changed back, it makes no third event."""
    scope = caller.scope()
    memory = ChatMemory(provider).feed(Feed(bank, scope=scope))

    async def story() -> None:
        async with memory.turn(session) as messages:
            messages.append({**user("I live in Graz."), "id": "m1"})
        for text in ("I live in Linz.", "I live in Linz.", "I live in Graz."):
            async with memory.turn(session) as messages:
                messages[0] = {**messages[0], "content": text}

    asyncio.run(story())
    caller.settle()
    stream = caller.items(keys.stream("default", ids.stream_key(scope, session)))
    assert sum(item["SK"]["S"].startswith("D#") for item in stream) == 2
    assert any("Linz" in fact for fact in caller.facts(scope))


def test_an_asynchronous_bank_takes_async_with(provider, session) -> None:
    """In `with` there is no loop to wait in: an error, not an empty history."""
    with pytest.raises(RuntimeError), ChatMemory(provider).turn(session):
        pass


def test_turns_are_remembered(caller: Caller, bank, provider, session) -> None:
    """What is said in turns becomes memories, each once, though the window forgets it; replacing unlearns nothing."""
    scope = caller.scope()
    feed = Feed(bank, scope=scope)
    memory = ChatMemory(provider).window_size(2).feed(feed)

    async def story() -> None:
        for run_id, said in (("r1", "My name is Ada."), ("r2", "I like green tea."), ("r2", "I like green tea.")):
            async with memory.turn(session, run_id=run_id) as messages:
                messages += [user(said), call("t"), result("t"), assistant("Noted.")]

    asyncio.run(story())
    caller.settle()
    assert feed.counts.failed == feed.counts.refused == 0
    stream = caller.items(keys.stream("default", ids.stream_key(scope, session)))
    assert sum(item["SK"]["S"].startswith("D#") for item in stream) == 8
    facts = caller.facts(scope)
    assert sum("tea" in fact for fact in facts) == 1
    assert sum("Ada" in fact for fact in facts) == 1
    asyncio.run(provider.delete(session))
    assert caller.facts(scope) == facts


@pytest.fixture(autouse=True)
def _settled(caller: Caller) -> Iterator[None]:
    yield
    caller.settle()
