"""What every chat memory does, whatever keeps its histories: rows C1 to C16, J1; one suite for each provider.

A subclass has a fixture `provider`: something that keeps histories, used by one test.
"""

import asyncio
import copy
import uuid

import pytest

from streambank_client.chat import ChatMemory
from streambank_client.errors import PreconditionFailed

SPECIAL = "session/with:special@chars#123!&spaces too"
SYSTEM = {"role": "system", "content": "Be brief."}


def user(text):
    return {"role": "user", "content": text}


def assistant(text):
    return {"role": "assistant", "content": text}


def call(name="t1"):
    function = {"name": "look_up", "arguments": "{}"}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": name, "type": "function", "function": function}],
    }


def result(name="t1", text="found"):
    return {"role": "tool", "tool_call_id": name, "content": text}


class Watched:
    """A provider that passes everything on and keeps what it was asked."""

    def __init__(self, provider):
        self.provider = provider
        self.asked = []

    async def load(self, conversation_id):
        self.asked.append(("load", conversation_id))
        return await self.provider.load(conversation_id)

    async def store(self, conversation_id, messages):
        self.asked.append(("store", conversation_id))
        await self.provider.store(conversation_id, messages)


async def run(memory, session, *questions, **options):
    """Run a session once for each question, with an agent that answers "re: ..."; return what each run saw."""
    seen = []
    for question in questions:
        async with memory.turn(session, **options) as messages:
            seen.append(copy.deepcopy(messages))
            messages += [user(question), assistant(f"re: {question}")]
    return seen


def texts(messages):
    return [message["content"] for message in messages]


class ChatRows:
    """The rows of the table, each a test."""

    @pytest.fixture
    def session(self):
        return f"row {uuid.uuid4()}"

    @pytest.fixture
    def memory(self, provider):
        return ChatMemory().chat_history_provider(provider)

    def test_c1_history_is_loaded_once_before_the_run(self, provider, session):
        """A run loads once, under the exact session id, before it sees anything."""
        watched = Watched(provider)

        async def story():
            async with ChatMemory(watched).turn(session):
                assert watched.asked == [("load", session)]

        asyncio.run(story())

    def test_c2_history_is_stored_once_after_the_run(self, provider, session):
        """A run stores once, also the first one, and one in which nothing was said."""
        watched = Watched(provider)

        async def story():
            async with ChatMemory(watched).turn(session):
                pass
            await run(ChatMemory(watched), session, "")
            return await provider.load(session)

        assert texts(asyncio.run(story())) == ["", "re: "]
        assert watched.asked == [("load", session), ("store", session)] * 2

    def test_c3_two_turns_are_stored_in_order(self, memory, provider, session):
        """User, assistant, user, assistant."""

        async def story():
            await run(memory, session, "Q1", "Q2")
            return await provider.load(session)

        assert asyncio.run(story()) == [user("Q1"), assistant("re: Q1"), user("Q2"), assistant("re: Q2")]

    def test_c4_a_history_that_was_there_is_seen_and_kept(self, memory, provider, session):
        """What another stored is before the new question, and stays in what is stored."""
        there = [user("old"), call(), result(), assistant("older")]

        async def story():
            await provider.store(session, there)
            [seen] = await run(memory, session, "new")
            return seen, await provider.load(session)

        seen, kept = asyncio.run(story())
        assert seen == there
        assert kept == [*there, user("new"), assistant("re: new")]

    def test_c5_sessions_do_not_leak(self, memory, provider, session):
        """Sessions that interleave, in turn or at once, have histories of their own."""
        names = [f"{session}{end}" for end in ("", "1", " ", "#1")]

        async def story():
            await asyncio.gather(*(run(memory, name, *(f"{name}-{n}" for n in range(3))) for name in names))
            return [await provider.load(name) for name in names]

        for name, kept in zip(names, asyncio.run(story()), strict=True):
            assert texts(kept)[::2] == [f"{name}-{n}" for n in range(3)]

    def test_c6_equal_texts_are_two_messages(self, memory, provider, session):
        """The same question five times is ten messages."""

        async def story():
            await run(memory, session, *["same"] * 5)
            return await provider.load(session)

        assert asyncio.run(story()) == [user("same"), assistant("re: same")] * 5

    def test_c7_an_unknown_session_is_empty(self, memory, provider, session):
        """The unknown has no messages, and is no error."""

        async def story():
            [seen] = await run(memory, session, "first")
            return seen, await provider.load(f"{session} of nobody")

        assert asyncio.run(story()) == ([], [])

    def test_c8_the_second_store_replaces_the_first(self, provider, session):
        """Storing is replacing, also by less and by nothing."""

        async def story():
            kept = []
            for messages in ([user("a"), user("b")], [user("c")], []):
                await provider.store(session, messages)
                kept.append(await provider.load(session))
            return kept

        assert asyncio.run(story()) == [[user("a"), user("b")], [user("c")], []]

    def test_c10_a_long_message_is_kept_whole(self, memory, provider, session):
        """Ten thousand characters come back."""
        long = "".join(chr(0x4E00 + n % 999) for n in range(10_000))

        async def story():
            await run(memory, session, long)
            return await provider.load(session)

        assert texts(asyncio.run(story()))[0] == long

    @pytest.mark.parametrize("name", [SPECIAL, "%2F%00/../?a=b&conversationId=x#", "a+b c", "日本 👩‍💻", "."])
    def test_c11_a_session_id_is_any_text(self, memory, provider, session, name):
        """An id is passed on verbatim, and is not another one that looks like it when encoded."""

        async def story():
            await run(memory, f"{session}{name}", "Q")
            near = [f"{session}{other}" for other in (name.lower() + "x", name.replace("+", " ") + ".", name + " ")]
            return [await provider.load(one) for one in (f"{session}{name}", *near)]

        kept, *others = asyncio.run(story())
        assert texts(kept) == ["Q", "re: Q"]
        assert others == [[], [], []]

    @pytest.mark.parametrize("size", [None, 6, 100])
    def test_c12_a_window_that_is_larger_keeps_everything(self, memory, provider, session, size):
        """No window, one of exactly the history's size, and a larger one change nothing."""
        memory.window_size(size)

        async def story():
            await run(memory, session, "Q1", "Q2", "Q3")
            return await provider.load(session)

        assert len(asyncio.run(story())) == 6

    @pytest.mark.parametrize(
        ("size", "kept"), [(2, ["Q4", "re: Q4"]), (4, ["Q3", "re: Q3", "Q4", "re: Q4"]), (1, ["re: Q4"])]
    )
    def test_c13_a_window_keeps_the_newest(self, memory, provider, session, size, kept):
        """Exactly the newest n are stored, over any number of runs."""
        memory.window_size(size)

        async def story():
            await run(memory, session, "Q1", "Q2", "Q3", "Q4")
            return await provider.load(session)

        assert texts(asyncio.run(story())) == kept

    def test_c13_a_window_is_applied_to_what_is_loaded_too(self, provider, session):
        """A history that somebody stored without a window is cut before the run sees it."""

        async def story():
            await run(ChatMemory(provider), session, "Q1", "Q2")
            return await run(ChatMemory(provider).window_size(2), session, "Q3")

        assert [texts(seen) for seen in asyncio.run(story())] == [["Q2", "re: Q2"]]

    def test_c13_a_system_message_counts(self, memory, provider, session):
        """After one run with instructions there are three messages, and a window of two cuts these off."""

        async def story():
            await run(memory, session, "Q1", system=[SYSTEM])
            first = await provider.load(session)
            await run(memory.window_size(2), session, "Q2", system=[SYSTEM])
            return first, await provider.load(session)

        first, second = asyncio.run(story())
        assert first == [SYSTEM, user("Q1"), assistant("re: Q1")]
        assert texts(second) == ["Q2", "re: Q2"]

    def test_c14_filtered_messages_are_never_stored(self, provider, session):
        """By length and by type: what the predicate is not true of is in no history."""
        short = ChatMemory(provider).filter_messages(lambda message: len(message["content"]) <= 5)
        users = ChatMemory(provider).filter_messages(lambda message: message["role"] == "user")

        async def story():
            await run(short, f"{session} short", "Q1", "a long question")
            await run(users, f"{session} users", "Q1", "Q2")
            return [texts(await provider.load(f"{session} {name}")) for name in ("short", "users")]

        assert asyncio.run(story()) == [["Q1"], ["Q1", "Q2"]]

    def test_c15_a_window_before_a_filter(self, memory, provider, session):
        """The window of five is cut first, the users of it are kept: three after three runs."""
        memory.window_size(5).filter_messages(lambda message: message["role"] == "user")

        async def story():
            await run(memory, session, "Q1", "Q2", "Q3")
            return await provider.load(session)

        assert texts(asyncio.run(story())) == ["Q1", "Q2", "Q3"]

    def test_c16_a_filter_before_a_window(self, memory, provider, session):
        """Users are kept first, the newest two of them after three runs."""
        memory.filter_messages(lambda message: message["role"] == "user").window_size(2)

        async def story():
            await run(memory, session, "Q1", "Q2", "Q3")
            return await provider.load(session)

        assert texts(asyncio.run(story())) == ["Q2", "Q3"]

    def test_j1_types_and_tool_ids_come_back(self, provider, session):
        """Round trip: calls, results, nulls and nested values are what they were."""
        messages = [
            SYSTEM,
            user("q"),
            call("c 1"),
            result("c 1"),
            {"role": "x", "n": [1, 0.5, None, True, {"a_b": {}}]},
        ]

        async def story():
            await provider.store(session, messages)
            return await provider.load(session)

        assert asyncio.run(story()) == messages

    def test_j1_a_stored_empty_history_is_a_conversation(self, provider, session):
        """`[]` that was stored is a version; the unknown, and the deleted, has none."""

        async def story():
            before = await provider.load_version(session)
            await provider.store(session, [])
            after = await provider.load_version(session)
            await provider.delete(session)
            return before, after, await provider.load_version(session)

        before, after, deleted = asyncio.run(story())
        assert before.messages == after.messages == deleted.messages == []
        assert (before.version, deleted.version) == (None, None)
        assert after.version

    def test_j1_one_conversation_is_deleted(self, provider, session):
        """A deletion takes one conversation and no other, and may come twice."""

        async def story():
            for name in ("a", "b"):
                await provider.store(f"{session} {name}", [user(name)])
            await provider.delete(f"{session} a")
            await provider.delete(f"{session} a")
            return [await provider.load(f"{session} {name}") for name in ("a", "b")]

        assert asyncio.run(story()) == [[], [user("b")]]

    def test_the_last_of_two_turns_at_once_wins(self, memory, provider, session):
        """Without a condition a turn overwrites what was stored since it was loaded."""

        async def story():
            async with memory.turn(session) as mine:
                await run(memory, session, "theirs")
                mine.append(user("mine"))
            return await provider.load(session)

        assert texts(asyncio.run(story())) == ["mine"]

    @pytest.mark.parametrize("is_known", [True, False])
    def test_a_conditional_turn_overwrites_nobody(self, memory, provider, session, is_known):
        """With if_match the second of two turns at once is refused, on a known conversation and on a new one."""

        async def overtaken():
            async with memory.turn(session, if_match=True) as mine:
                await run(memory, session, "theirs", if_match=True)
                mine.append(user("mine"))

        async def story():
            if is_known:
                await run(memory, session, "Q1")
            with pytest.raises(PreconditionFailed):
                await overtaken()
            await run(memory, session, "after", if_match=True)
            return await provider.load(session)

        assert texts(asyncio.run(story()))[2 * is_known :] == ["theirs", "re: theirs", "after", "re: after"]
