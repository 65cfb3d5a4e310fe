"""Feeding a stream from turns: which messages are new, under which ids they go, and what happens when they do not."""

import asyncio
import json
import logging

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank_client import AsyncStreambank, Streambank
from streambank_client.chat import ChatMemory, Feed, FeedCounts, InMemoryChatHistoryProvider
from streambank_client.chat.new_messages import new_messages
from tests.chat_rows import SYSTEM, assistant, call, result, run, user

SCOPE = {"user_id": "u1"}
DONE = {"name": "reasoningEngines/default/operations/o-1", "done": False, "metadata": {}}


class Service:
    """Takes events as the service does, but for texts that it is told to refuse, or all of them while it is down."""

    def __init__(self):
        self.calls, self.events, self.poison, self.status = [], {}, "", 200

    def __call__(self, request):
        body = json.loads(request.content)
        events = body["directContentsSource"]["events"]
        self.calls.append(body)
        if self.status != 200:
            return refusal(self.status, "scope")
        if self.poison and self.poison in json.dumps(events):
            return refusal(400, "directContentsSource.events[0]")
        conflicts = [event["eventId"] for event in events if self._has_conflict(event)]
        for event in events:
            self.events.setdefault(event["eventId"], event)
        return httpx.Response(200, json=DONE | {"metadata": {"conflictingEventIds": conflicts}})

    def _has_conflict(self, event):
        stored = self.events.get(event["eventId"], event)
        return stored["content"] != event["content"]

    @property
    def texts(self):
        return [event["content"]["parts"][0].get("text") for event in self.events.values()]


def refusal(status, field):
    details = [
        {
            "@type": "type.googleapis.com/google.rpc.BadRequest",
            "fieldViolations": [{"field": field, "description": "no"}],
        }
    ]
    codes = {400: "INVALID_ARGUMENT", 403: "PERMISSION_DENIED", 500: "INTERNAL"}
    return httpx.Response(
        status, json={"error": {"code": status, "status": codes[status], "message": "no", "details": details}}
    )


@pytest.fixture
def service():
    return Service()


@pytest.fixture
def bank(service):
    return AsyncStreambank("http://service", key="k", transport=httpx.MockTransport(service), retries=0).bank()


def fed(bank, **more):
    feed = Feed(bank, scope=SCOPE, **more)
    return ChatMemory(InMemoryChatHistoryProvider()).feed(feed), feed


def test_each_message_is_fed_once(bank, service):
    """A turn sends what it added and nothing that was loaded, to the session's stream, under the scope."""
    memory, feed = fed(bank)
    asyncio.run(run(memory, "s 1", "Q1", "Q2", "Q1", system=[SYSTEM]))
    assert service.texts == ["Q1", "re: Q1", "Q2", "re: Q2", "Q1", "re: Q1"]
    assert {body["streamId"] for body in service.calls} == {"s 1"}
    assert {json.dumps(body["scope"]) for body in service.calls} == {json.dumps(SCOPE)}
    assert feed.counts == FeedCounts(sent=6)


def test_messages_are_fed_before_the_window(bank, service):
    """What the window keeps out of the history is remembered all the same."""
    memory, _ = fed(bank)
    asyncio.run(run(memory.window_size(1), "s", "Q1", "Q2"))
    assert service.texts == ["Q1", "re: Q1", "Q2", "re: Q2"]


def test_a_turn_that_is_done_again_is_no_new_event(bank, service):
    """Under the same run id the same messages have the same ids; another run's equal texts are other events."""
    memory, _ = fed(bank)
    for run_id in ("r1", "r1", "r2"):
        asyncio.run(run(memory, run_id, "Q", run_id=run_id))
    assert service.texts == ["Q", "re: Q"] * 2
    assert all(name.startswith(("r1-0-", "r1-1-", "r2-0-", "r2-1-")) for name in service.events)


def test_a_message_with_an_id_keeps_it(bank, service):
    """The framework's id is the event's, however often and from whatever place it is sent; a long one is hashed."""
    memory, _ = fed(bank)
    langchain = {"type": "human", "data": {"content": "hi", "id": "lc-1"}}

    async def story():
        async with memory.turn("s") as messages:
            messages += [{**user("own"), "id": "m1"}, langchain, {**user("long"), "id": "x" * 600}]

    asyncio.run(story())
    asyncio.run(memory.turn("t").__aenter__())
    assert list(service.events)[:2] == ["m1", "lc-1"]
    assert len(list(service.events)[2]) == 64


def replaced(messages, text):
    messages[0] = {**messages[0], "content": text}


def changed(messages, text):
    messages[0]["content"] = text


def copied(messages, text):
    messages[:] = [dict(message) for message in messages]
    messages[0]["content"] = text


@pytest.mark.parametrize("edit", [replaced, changed, copied])
def test_an_edit_is_learnt(bank, service, edit):
    """A loaded message with another text is sent under an id of its own, once, however the application changes it."""
    memory, feed = fed(bank)

    async def story():
        async with memory.turn("s") as messages:
            messages += [{**user("I live in Graz."), "id": "m1"}, {**assistant("Noted."), "id": "m2"}]
        for text in ("I live in Linz.", "I live in Linz.", "I live in Graz."):
            async with memory.turn("s") as messages:
                edit(messages, text)

    asyncio.run(story())
    assert service.texts == ["I live in Graz.", "Noted.", "I live in Linz."]
    assert feed.counts.refused == feed.counts.failed == 0


def test_a_change_beside_the_text_is_no_event(bank, service):
    """A loaded message without an id is not sent again because a framework adds a field to it."""
    memory, _ = fed(bank)

    async def story():
        async with memory.turn("s") as messages:
            messages.append(user("Q"))
        async with memory.turn("s") as messages:
            messages[0]["cached"] = True

    asyncio.run(story())
    assert service.texts == ["Q"]
    assert len(service.calls) == 1


def test_a_failed_edit_is_counted(bank, service):
    """An edit whose call fails is counted as failed and does not fail the run."""
    memory, feed = fed(bank)

    async def story():
        async with memory.turn("s") as messages:
            messages.append({**user("a"), "id": "m1"})
        service.status = 500
        async with memory.turn("s") as messages:
            changed(messages, "b")

    asyncio.run(story())
    assert feed.counts == FeedCounts(sent=1, failed=1)


def test_items_of_the_agents_sdk_are_fed_under_ids_of_their_own(bank, service):
    """An item's id is kept; the id that the SDK gives to all items of some models, and that of a call, are no ids."""
    call = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "c1", "output": "ok"}
    shared = {"type": "message", "id": "__fake_id__", "role": "assistant"}
    answers = [{**shared, "content": [{"type": "output_text", "text": text}]} for text in ("a", "b")]
    memory, feed = fed(bank)

    async def story():
        async with memory.turn("s") as messages:
            messages += [user("q"), call, output, *answers]

    asyncio.run(story())
    assert feed.counts.sent == len(service.events) == 5
    assert "fc_1" in service.events
    assert not {"__fake_id__", "c1"} & set(service.events)


def test_a_failed_turn_feeds_nothing(bank, service):
    """Neither one that raised nor one that could not be stored."""
    memory, _ = fed(bank)

    class Full(InMemoryChatHistoryProvider):
        async def store(self, conversation_id, messages):
            raise OSError

    async def failing():
        async with memory.turn("s") as messages:
            messages.append(user("Q"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        asyncio.run(failing())
    with pytest.raises(OSError):
        asyncio.run(run(memory.chat_history_provider(Full()), "s", "Q"))
    assert service.calls == []


@pytest.mark.parametrize("status", [400, 403, 500])
def test_a_feed_that_fails_fails_no_run(bank, service, caplog, status):
    """What the service does not take is counted and logged by its kind; no word of it is in the log."""
    service.status = status
    memory, feed = fed(bank)
    with caplog.at_level(logging.INFO):
        asyncio.run(run(memory, "s", "a secret"))
    assert feed.counts == FeedCounts(failed=2)
    assert len(service.calls) == 1
    assert "secret" not in caplog.text + str([vars(record) for record in caplog.records])
    assert [record.getMessage() for record in caplog.records if record.name == "streambank_client"] == ["turn not fed"]


def test_one_poisoned_message_takes_no_other_with_it(bank, service):
    """A refused event is found and counted; the others of the call arrive."""
    service.poison = "bad"
    memory, feed = fed(bank)

    async def story():
        async with memory.turn("s") as messages:
            messages += [user("a"), user("bad"), user("c"), assistant("d")]

    asyncio.run(story())
    assert sorted(service.texts) == ["a", "c", "d"]
    assert feed.counts == FeedCounts(sent=3, refused=1)


def test_what_is_no_conversation_is_dropped_and_counted(bank, service):
    """Instructions, blanks and unknown shapes leave no event; what is malformed is refused; tools are sent by name."""
    memory, feed = fed(bank)

    async def story():
        async with memory.turn("s") as messages:
            messages += [SYSTEM, user(" "), {"from": "me"}, {"role": "user", "content": 7}, call("1"), result("1")]

    asyncio.run(story())
    assert feed.counts == FeedCounts(sent=2, dropped=3, refused=1)
    parts = [event["content"]["parts"][0] for event in service.events.values()]
    assert parts[0]["functionCall"]["name"] == parts[1]["functionResponse"]["name"] == "look_up"


def test_large_turns_take_several_calls(bank, service):
    """A call has at most 500 events and 3 MB of them, in order."""
    memory, _ = fed(bank)

    async def story(messages_):
        async with memory.turn("s") as messages:
            messages += messages_

    asyncio.run(story([user(f"{n}") for n in range(1_001)]))
    asyncio.run(story([user(f"{n}" + "x" * 300_000) for n in range(15)]))
    sizes = [len(body["directContentsSource"]["events"]) for body in service.calls]
    assert sizes[:3] == [500, 500, 1]
    assert sum(sizes[3:]) == 15
    assert max(len(json.dumps(body)) for body in service.calls) < 4_000_000
    assert service.texts[:1_001] == [str(n) for n in range(1_001)]


def test_a_turn_may_say_whose_it_is(bank, service):
    """One memory serves many users: a turn's scope takes the place of the feed's; without any there is no turn."""
    memory = ChatMemory().feed(Feed(bank))
    for name in ("u1", "u2"):
        asyncio.run(run(memory, name, "Q", scope={"user_id": name}))
    assert [body["scope"] for body in service.calls] == [{"user_id": "u1"}, {"user_id": "u2"}]
    with pytest.raises(ValueError, match="scope"):
        memory.turn("s")


def test_a_synchronous_bank_feeds_too(service):
    """With a `Bank` a turn is fed inside `with`."""
    client = Streambank("http://service", key="k", transport=httpx.MockTransport(service), retries=0)
    memory, _ = fed(client.bank(), stream_id="t", generation_rule={"eventCount": 3})
    with memory.turn("s") as messages:
        messages.append(user("Q"))
    assert service.texts == ["Q"]
    assert service.calls[0]["streamId"] == "t"
    assert service.calls[0]["generationTriggerConfig"] == {"generationRule": {"eventCount": 3}}


@given(st.lists(st.sampled_from("ab"), max_size=6), st.lists(st.sampled_from("ab"), max_size=4), st.integers(0, 6))
def test_new_is_what_a_run_added(old, added, cut):
    """Whatever is loaded, cut off its front, copied or added: new is what was added, equal texts included."""
    loaded, more = [user(text) for text in old], [user(text) for text in added]
    messages = [*loaded[min(cut, max(len(old) - 1, 0)) :], *more]
    assert new_messages(messages, loaded) == list(range(len(messages) - len(more), len(messages)))
    copied = [dict(message) for message in loaded] + more
    assert new_messages(copied, loaded) == list(range(len(loaded), len(copied)))
