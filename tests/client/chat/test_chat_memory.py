"""Chat memory in this process: the common rows, what a turn is, and how it is configured."""

import asyncio
import copy
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from streambank_client.chat import ChatMemory, InMemoryChatHistoryProvider
from streambank_client.errors import PreconditionFailed
from tests.chat_rows import SYSTEM, ChatRows, Watched, assistant, run, texts, user


@pytest.fixture
def provider():
    return InMemoryChatHistoryProvider()


class TestInMemory(ChatRows):
    """The rows over the provider that keeps histories in this process."""


def kept(provider, session="s"):
    return asyncio.run(provider.load(session))


def test_c9_a_memory_without_configuration_runs():
    """By default histories are kept in memory, and the second turn sees the first."""

    async def story():
        return await run(ChatMemory(), "s", "Q1"), await run(memory := ChatMemory(), "s", "Q1", "Q2"), memory

    first, both, _ = asyncio.run(story())
    assert [texts(seen) for seen in (*first, *both)] == [[], [], ["Q1", "re: Q1"]]


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt(), asyncio.CancelledError()])
def test_a_run_that_fails_stores_nothing(provider, error):
    """Whatever is raised inside, cancellation too, the history is as it was before the run, and the error comes out."""
    memory = ChatMemory(provider)

    async def failing():
        async with memory.turn("s") as messages:
            messages[0]["content"] = "changed"
            messages.append(user("Q2"))
            raise error

    asyncio.run(run(memory, "s", "Q1"))
    with pytest.raises(type(error)):
        asyncio.run(failing())
    assert kept(provider) == [user("Q1"), assistant("re: Q1")]


def test_errors_of_the_provider_fail_the_run():
    """A history that cannot be loaded is not taken for an empty one; one that cannot be stored is not passed over."""

    class Broken(InMemoryChatHistoryProvider):
        async def load(self, conversation_id):
            raise OSError("load")

    class Full(InMemoryChatHistoryProvider):
        async def store(self, conversation_id, messages):
            raise OSError("store")

    for provider, name in ((Broken(), "load"), (Full(), "store")):
        with pytest.raises(OSError, match=name):
            asyncio.run(run(ChatMemory(provider), "s", "Q"))


def test_a_turn_without_waiting_takes_with(provider):
    """Where nothing has to be awaited, `with` does what `async with` does, errors included."""
    memory = ChatMemory(provider).window_size(2)
    for question in ("Q1", "Q2"):
        with memory.turn("s") as messages:
            messages += [user(question), assistant(f"re: {question}")]
    with pytest.raises(ZeroDivisionError), memory.turn("s") as messages:
        messages.append(user(str(1 / 0)))
    assert texts(kept(provider)) == ["Q2", "re: Q2"]


def test_a_provider_that_waits_takes_async_with():
    """`with` says so, instead of going on without a history."""

    class Slow(InMemoryChatHistoryProvider):
        async def load(self, conversation_id):
            await asyncio.sleep(0)
            return []

    with pytest.raises(RuntimeError, match="async with"), ChatMemory(Slow()).turn("s"):
        pass


def test_a_turn_is_entered_once(provider):
    """A turn that is over is not begun again: its list would be that of the last run."""
    turn = ChatMemory(provider).turn("s")
    with turn:
        pass
    with pytest.raises(RuntimeError, match="once"), turn:
        pass


@pytest.mark.parametrize("name", ["", "x" * 513, "ü" * 257, "\ud800", None, 7])
def test_a_session_id_that_is_none_is_refused(name):
    """Before anything is loaded, and as the service would."""
    with pytest.raises(ValueError, match="session_id"):
        ChatMemory().turn(name)
    ChatMemory().turn("x" * 512)


def test_a_condition_takes_a_provider_with_versions(provider):
    """A provider of two methods is enough for all but if_match, which says what it lacks."""
    with pytest.raises(TypeError, match="load_version"):
        ChatMemory(Watched(provider)).turn("s", if_match=True)


# ---- preprocessors


@pytest.mark.parametrize("size", [-1, True, 1.0, "2"])
def test_a_window_of_no_size_is_refused(size):
    """When it is configured, not in the first run."""
    with pytest.raises(ValueError, match="window_size"):
        ChatMemory().window_size(size)


def test_preprocessors_run_in_the_order_in_which_they_were_added(provider):
    """The output of one is the input of the next, on load and on store."""
    seen = []

    def noting(name):
        def preprocess(messages):
            seen.append((name, len(messages)))
            return messages[1:]

        return preprocess

    memory = ChatMemory(provider).add_preprocessor(noting("a")).add_preprocessor(noting("b"))
    asyncio.run(provider.store("s", [user(str(n)) for n in range(4)]))
    asyncio.run(run(memory, "s", "Q"))
    assert seen == [("a", 4), ("b", 3), ("a", 4), ("b", 3)]
    assert texts(kept(provider)) == ["Q", "re: Q"]


class Redact:
    """A preprocessor as a class of an application."""

    def preprocess(self, messages):
        return [{**message, "content": message["content"].replace("secret", "***")} for message in messages]


def test_a_preprocessor_may_be_an_object(provider):
    """An object with `preprocess` works as the function does, on load and on store."""
    asyncio.run(provider.store("s", [user("an old secret")]))
    [seen] = asyncio.run(run(ChatMemory(provider).add_preprocessor(Redact()), "s", "a secret"))
    assert texts(seen) == ["an old ***"]
    assert texts(kept(provider)) == ["an old ***", "a ***", "re: a ***"]


def test_a_window_may_begin_with_the_user(provider):
    """The history that a run gets, and the one that is stored, begin with a user's message."""
    memory = ChatMemory(provider).window_size(3, begin_with_user=True)
    seen = asyncio.run(run(memory, "s", "Q1", "Q2", "Q3"))
    assert texts(seen[2]) == ["Q2", "re: Q2"]
    assert texts(kept(provider)) == ["Q3", "re: Q3"]


@pytest.mark.parametrize(("apply_on", "seen", "stored"), [("load", 1, 3), ("store", 3, 1), ("both", 1, 1)])
def test_a_preprocessor_may_be_for_one_way(provider, apply_on, seen, stored):
    """apply_on says whether the run, the history, or both see what it leaves."""
    asyncio.run(provider.store("s", [user("1"), user("2"), user("3")]))
    memory = ChatMemory(provider).window_size(1, apply_on=apply_on)
    [messages] = asyncio.run(run(memory, "s", "Q"))
    assert len(messages) == seen
    assert len(kept(provider)) == (seen + 2 if apply_on == "load" else stored)
    with pytest.raises(ValueError, match="apply_on"):
        memory.window_size(1, apply_on="never")


@pytest.mark.parametrize("apply_on", ["load", "store"])
def test_an_error_of_a_preprocessor_fails_the_run_and_stores_nothing(provider, apply_on):
    """Neither on the way in nor on the way out is a history made of half a chain."""
    memory = ChatMemory(provider).filter_messages(lambda message: message["nothing"], apply_on=apply_on)
    asyncio.run(provider.store("s", [user("old")]))
    with pytest.raises(KeyError):
        asyncio.run(run(memory, "s", "Q"))
    assert kept(provider) == [user("old")]


def test_a_turn_keeps_the_configuration_that_it_began_with(provider):
    """Who configures the memory meanwhile changes later turns only."""
    memory = ChatMemory(provider)
    with memory.turn("s") as messages:
        memory.window_size(1)
        messages += [user("a"), user("b")]
    assert len(kept(provider)) == 2


# ---- instructions


@pytest.mark.parametrize(
    "old",
    [
        {"role": "system", "content": "old"},
        {"role": "developer", "content": "old"},
        {"type": "system", "data": {"content": "old"}},
        {"type": "ai.koog.prompt.message.Message.System", "parts": [{"text": "old"}]},
    ],
)
def test_the_live_system_prompt_wins(provider, old):
    """Instructions of the history give way to those of the run, in every format; without any they stay."""
    asyncio.run(provider.store("s", [old, user("Q1")]))
    memory = ChatMemory(provider)
    for _ in range(2):
        [seen] = asyncio.run(run(memory, "s", "Q2", system=[SYSTEM]))
        assert seen[:2] == [SYSTEM, user("Q1")]
        assert seen.count(SYSTEM) == 1
    asyncio.run(provider.store("s", [old, user("Q1")]))
    assert asyncio.run(run(memory, "s", "Q2")) == [[old, user("Q1")]]


def test_system_messages_can_be_left_out_of_histories(provider):
    """drop_system_messages stores none, and shows none of old ones."""
    asyncio.run(provider.store("s", [SYSTEM, user("Q1")]))
    [seen] = asyncio.run(run(ChatMemory(provider).drop_system_messages(), "s", "Q2", system=[SYSTEM]))
    assert seen == [SYSTEM, user("Q1")]
    assert kept(provider) == [user("Q1"), user("Q2"), assistant("re: Q2")]


# ---- the provider in memory


def test_nobody_changes_a_stored_history(provider):
    """What was given and what was got are copies, to the last object inside."""
    given = [{"role": "user", "content": [{"text": "a"}]}]
    asyncio.run(provider.store("s", given))
    expected = copy.deepcopy(given)
    given[0]["content"][0]["text"] = "b"
    kept(provider)[0]["content"].append("c")
    assert kept(provider) == expected


def test_threads_and_loops_share_a_provider(provider):
    """Conditional turns of many threads, each with its own event loop, lose none of each other's messages."""
    memory, barrier = ChatMemory(provider), threading.Barrier(8)

    async def add(number):
        for _ in range(1_000):
            try:
                async with memory.turn("s", if_match=True) as messages:
                    await asyncio.sleep(0)
                    messages.append(user(str(number)))
            except PreconditionFailed:
                continue
            return
        raise AssertionError("never came through")

    def work(number):
        barrier.wait()
        asyncio.run(add_twice(number))

    async def add_twice(number):
        await asyncio.gather(add(number), add(number + 100))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(8)))
    finally:
        sys.setswitchinterval(interval)
    assert sorted(map(int, texts(kept(provider)))) == [*range(8), *range(100, 108)]
