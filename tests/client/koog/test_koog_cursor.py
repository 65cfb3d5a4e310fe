"""What a run knows again: every message of a conversation is claimed once, however prompts repeat it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from streambank_client.koog.cursor import PromptCursor
from streambank_client.koog.messages import PromptMessage
from tests.client.koog.agents import NOON

few_texts = st.sampled_from(["yes", "no", "ok"])
roles = st.sampled_from(["user", "assistant", "system"])
conversations = st.lists(st.tuples(roles, few_texts), min_size=1, max_size=12)


def spoken(conversation: list[tuple[str, str]]) -> list[PromptMessage]:
    return [PromptMessage(role, text) for role, text in conversation]


def distinct(count: int, start: int = 0) -> list[PromptMessage]:
    return [PromptMessage("user", f"text {number}") for number in range(start, start + count)]


def claimed(cursor: PromptCursor, prompt: list[PromptMessage]) -> list[str]:
    return [message.text for message in cursor.claim(prompt, now=NOON)]


def texts(messages: list[PromptMessage]) -> list[str]:
    return [message.text for message in messages]


@given(conversations, st.data())
def test_growing_prompts_claim_the_conversation(conversation: list[tuple[str, str]], data: st.DataObject) -> None:
    """While prompts only grow, what is claimed is the conversation, in order and once, also where texts are equal."""
    messages, cursor = spoken(conversation), PromptCursor("run")
    ends = sorted(data.draw(st.lists(st.integers(0, len(messages)), max_size=5)))
    parts = [claimed(cursor, messages[:end]) for end in [*ends, len(messages)]]
    assert [text for part in parts for text in part] == texts(messages)


@given(conversations, st.data())
def test_replies_are_known_again(conversation: list[tuple[str, str]], data: st.DataObject) -> None:
    """A reply that was claimed is not claimed again from the prompt that repeats it."""
    messages, cursor, seen = spoken(conversation), PromptCursor("run"), []
    for at, message in enumerate(messages):
        if message.role == "assistant" and data.draw(st.booleans()):
            seen += claimed(cursor, messages[:at])
            seen += [one.text for one in cursor.claim_reply([message], now=NOON)]
    assert [*seen, *claimed(cursor, messages)] == texts(messages)


@given(st.integers(1, 12), st.integers(1, 5), st.data())
def test_windows_lose_nothing(count: int, window: int, data: st.DataObject) -> None:
    """Prompts that hold only the newest messages claim each of them once, as long as they join without a gap."""
    messages, cursor, seen, end = distinct(count), PromptCursor("run"), [], 0
    while end < count:
        end = min(count, end + data.draw(st.integers(1, window)))
        seen += claimed(cursor, messages[max(0, end - window) : end])
    assert seen == texts(messages)


@given(conversations, st.data())
def test_ids_tell_all_apart(conversation: list[tuple[str, str]], data: st.DataObject) -> None:
    """With ids each message is claimed once, from prompts of any selection and order."""
    messages = [PromptMessage(role, text, None, f"m{at}") for at, (role, text) in enumerate(conversation)]
    cursor, seen = PromptCursor("run"), []
    prompts = data.draw(st.lists(st.lists(st.sampled_from(messages), unique_by=lambda one: one.message_id), max_size=4))
    for prompt in [*prompts, messages]:
        seen += [message.id for message in cursor.claim(prompt, now=NOON)]
    assert sorted(seen) == sorted(f"m{at}" for at in range(len(messages)))


@given(st.integers(1, 8), st.integers(0, 8), st.integers(1, 4))
def test_other_prompts_of_a_run_do_not_disturb(count: int, cut: int, aside: int) -> None:
    """A call with a prompt of its own, such as one for a summary, claims its messages and hides none of the others."""
    messages, others, cursor = distinct(count), distinct(aside, start=100), PromptCursor("run")
    seen = claimed(cursor, messages[:cut]) + claimed(cursor, others) + claimed(cursor, messages)
    assert sorted(seen) == sorted([*texts(messages), *texts(others)])


def test_repeated_prompt_claims_nothing() -> None:
    """A call that is tried again with the same prompt has nothing new to say."""
    cursor = PromptCursor("run")
    prompt = spoken([("user", "yes"), ("assistant", "yes"), ("user", "yes")])
    assert claimed(cursor, prompt) == ["yes"] * 3
    assert claimed(cursor, prompt) == []


def test_summary_in_place_of_old_messages_is_new() -> None:
    """Where a prompt's beginning was replaced by a summary, that is claimed once, and what follows it not again."""
    cursor = PromptCursor("run")
    claimed(cursor, spoken([("user", "a"), ("assistant", "b"), ("user", "c")]))
    shorter = spoken([("system", "summary"), ("user", "c"), ("assistant", "d")])
    assert claimed(cursor, shorter) == ["summary", "d"]
    assert claimed(cursor, [*shorter, PromptMessage("user", "e")]) == ["e"]


def test_equal_text_after_a_cut_is_new() -> None:
    """Where a prompt that was cut ends with the text of the last message twice, the second is new."""
    cursor = PromptCursor("run")
    claimed(cursor, spoken([("user", "a"), ("user", "yes")]))
    assert claimed(cursor, spoken([("user", "yes"), ("user", "yes")])) == ["yes"]


def test_reply_with_a_known_id_is_not_claimed() -> None:
    """A reply that comes again under its id, as from a cache, is one message."""
    cursor, reply = PromptCursor("run"), PromptMessage("assistant", "hi", None, "r1")
    assert len(cursor.claim_reply([reply], now=NOON)) == 1
    assert cursor.claim_reply([reply], now=NOON) == []


def test_an_edit_is_new() -> None:
    """A message with a known id and another text is claimed, once; back to the first text it is known."""
    cursor = PromptCursor("run", [PromptMessage("user", "Graz", None, "m1")])
    seen = [
        claimed(cursor, [PromptMessage("user", text, None, "m1"), PromptMessage("assistant", "ok", None, "m2")])
        for text in ("Graz", "Linz", "Linz", "Graz")
    ]
    assert seen == [["ok"], ["Linz"], [], []]


def test_copy_with_an_id_is_the_reply_that_had_none() -> None:
    """An application that gives a model's reply an id when it keeps it does not make two messages of it."""
    cursor = PromptCursor("run")
    cursor.claim_reply([PromptMessage("assistant", "hi")], now=NOON)
    assert claimed(cursor, [PromptMessage("assistant", "hi", None, "kept-1"), PromptMessage("user", "ho")]) == ["ho"]


def test_ids_of_a_run_differ_though_texts_are_equal() -> None:
    """Two messages of one text have two ids, the same ones in a second cursor of that run."""
    prompt = spoken([("user", "yes"), ("user", "yes")])
    ids = [[message.id for message in PromptCursor("run").claim(prompt, now=NOON)] for _ in range(2)]
    assert ids[0] == ids[1]
    assert len(set(ids[0])) == 2


def test_long_conversations_are_quickly_known_again() -> None:
    """A thousand equal messages are told apart in steps that do not multiply."""
    messages, cursor = spoken([("user", "ok")] * 1_000), PromptCursor("run")
    assert len(claimed(cursor, messages)) == 1_000
    assert claimed(cursor, [*messages, PromptMessage("user", "ok")]) == ["ok"]
