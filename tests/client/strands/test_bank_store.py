"""A bank as a store: over HTTP, with everything that can go wrong on the way."""

from __future__ import annotations

import asyncio
import threading
from datetime import datetime
from typing import Any

import pytest

from streambank_client.errors import InternalError, NotFound, PermissionDenied, Unauthenticated, Unavailable
from streambank_client.strands import (
    BankFactStore,
    BankStore,
    ExtractionConfig,
    InvocationTrigger,
    StreambankMemoryManager,
)
from streambank_client.strands.stores import AddMessagesContext, Ingested
from streambank_client.strands.types import ExtractionResult, MemoryMessageFilter
from tests.client.strands.service import Stub, remembered, waiting
from tests.client.strands.talking import Shouting, assistant, turn, user

SCOPE = {"user_id": "u1"}


def store(stub: Stub, *, retries: int = 0, **more: Any) -> BankStore:
    return BankStore(client=stub.client(retries=retries), scope=SCOPE, **more)


def numbered(*numbers: int) -> AddMessagesContext:
    return AddMessagesContext(sequence_numbers=list(numbers))


def add(store: BankStore, *texts: str, first: int = 0) -> Ingested:
    numbers = range(first, first + len(texts))
    return asyncio.run(store.add_messages([user(text) for text in texts], numbered(*numbers)))


# ---- what is sent


def test_sends_stream_and_rule() -> None:
    """Scope, stream and rule go with every call, and an assistant is a model."""
    stub = Stub()
    rule = {"event_count": 10}
    bank = store(stub, stream_id="s1", generation_rule=rule)
    asyncio.run(bank.add_messages([user("hi"), assistant("hello")], numbered(0, 1)))
    (body,) = stub.bodies
    assert (body["scope"], body["streamId"]) == (SCOPE, "s1")
    assert body["generationTriggerConfig"]["generationRule"] in (rule, {"eventCount": 10})
    roles = [event["content"]["role"] for event in body["directContentsSource"]["events"]]
    assert roles == ["user", "model"]


@pytest.mark.parametrize(
    ("exclude", "is_included"), [(("toolUse", "toolResult"), None), ([], True), (["toolUse"], True), (["image"], True)]
)
def test_tool_blocks_are_read_where_the_filter_keeps_them(exclude: Any, is_included: bool | None) -> None:
    """A filter that lets tool blocks through would send them for nothing; otherwise the bank decides."""
    stub = Stub()
    add(store(stub, extraction=ExtractionConfig(filter=MemoryMessageFilter(exclude))), "hi")
    assert stub.bodies[0].get("includeToolTraffic") is is_included
    add(store(stub), "hi")
    assert "includeToolTraffic" not in stub.bodies[1]


def test_extraction_is_a_dict() -> None:
    """Whatever shape an extraction is given in, both managers find a dict of what it says."""
    assert store(Stub()).extraction == {}
    assert store(Stub(), extraction=ExtractionConfig()).extraction == {}
    assert store(Stub(), extraction={}).extraction == {}
    one = InvocationTrigger()
    given = ExtractionConfig(one, filter=MemoryMessageFilter([]))
    assert store(Stub(), extraction=given).extraction == {"trigger": [one], "filter": MemoryMessageFilter([])}
    assert store(Stub(), extraction={"trigger": [one]}).extraction == {"trigger": [one]}
    assert store(Stub(), extraction=False).extraction is None
    assert store(Stub(), extraction=None).extraction is None


def test_read_only_has_no_extraction() -> None:
    """A store that is only read from needs no word about extraction; one that is asked for is refused."""
    assert store(Stub(), writable=False).extraction is None
    with pytest.raises(ValueError, match="not writable"):
        StreambankMemoryManager([store(Stub(), writable=False, extraction=ExtractionConfig())])


def test_large_batches_are_split() -> None:
    """More events than fit go in several calls, in order."""
    stub = Stub()
    texts = [str(number) for number in range(1_201)]
    assert add(store(stub), *texts).sent == 1_201
    sizes = [len(body["directContentsSource"]["events"]) for body in stub.bodies]
    assert sizes == [500, 500, 201]
    assert stub.texts == texts


def test_reasoning_is_opt_in() -> None:
    """Reasoning is sent as a thought where it is asked for, and only there."""
    message = {"role": "assistant", "content": [{"reasoningContent": {"reasoningText": {"text": "hm"}}}]}
    for include, sent in ((False, 0), (True, 1)):
        stub = Stub()
        result = asyncio.run(store(stub, include_reasoning=include).add_messages([message], numbered(0)))
        assert (result.sent, len(stub.events)) == (sent, sent)


def test_nothing_to_send() -> None:
    """A batch of which nothing is left makes no call."""
    stub = Stub()
    assert add(store(stub)) == Ingested(0)
    assert stub.requests == []


# ---- what goes wrong


def test_lost_reply() -> None:
    """After a lost reply the batch grows and is sent again: what was stored is not stored twice."""
    stub = Stub(lose=1)
    bank = store(stub)
    with pytest.raises(Unavailable):
        add(bank, "q0", "r0")
    add(bank, "q0", "r0", "q1", "r1")
    assert stub.texts == ["q0", "r0", "q1", "r1"]
    assert len(stub.requests) == 2


@pytest.mark.parametrize("status", [400, 413])
def test_poison(status: int, caplog: pytest.LogCaptureFixture) -> None:
    """A message that the service never takes is left out and logged by its id; the others are stored, in order."""
    stub = Stub(poison=lambda text: status if "poison" in text else None)
    result = add(store(stub), "a", "b", "poison", "c", "d")
    assert stub.texts == ["a", "b", "c", "d"]
    assert (result.sent, len(result.refused)) == (4, 1)
    (record,) = [record for record in caplog.records if record.message == "memory messages refused"]
    assert record.refused == list(result.refused)  # type: ignore[attr-defined]
    assert "poison" not in str(vars(record))


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (401, Unauthenticated),
        (403, PermissionDenied),
        (404, NotFound),
        (429, Unavailable),
        (500, InternalError),
        (503, Unavailable),
    ],
)
def test_other_refusals_raise(status: int, error: type[Exception]) -> None:
    """What is no message's fault is raised, and nothing is dropped for it."""
    stub = Stub(faults=[status])
    bank = store(stub)
    with pytest.raises(error):
        add(bank, "a", "b")
    assert len(stub.requests) == 1
    add(bank, "a", "b")
    assert stub.texts == ["a", "b"]


def test_wrong_rule_raises() -> None:
    """A 400 that a call without events gets too is raised: the store is set up wrongly and must not eat messages."""
    stub = Stub(faults=[400, 400])
    with pytest.raises(Exception, match="no"):
        add(store(stub), "a", "b")
    assert stub.events == {}


def test_edits_are_learnt() -> None:
    """A message whose id the stream has for another text is stored once, under an id of its own, however often sent."""
    stub = Stub()
    bank = store(stub)
    first = AddMessagesContext(sequence_numbers=[0], message_ids=["m1"])
    for text in ("I live in Graz.", "I live in Linz.", "I live in Linz.", "I live in Graz."):
        assert asyncio.run(bank.add_messages([user(text)], first)) == Ingested(1)
    assert stub.texts == ["I live in Graz.", "I live in Linz."]
    assert [event_id.partition("-")[0] for event_id in stub.events] == ["m1", "m1"]


def test_conflicts_of_edits_are_lost() -> None:
    """An edit whose own id is taken too is reported after two calls: it is not sent in a loop."""
    stub = Stub(knows_everything=True)
    result = asyncio.run(store(stub).add_messages([user("a")], AddMessagesContext([0], "r")))
    assert result == Ingested(0, ("r-0",))
    assert len(stub.requests) == 2


def test_a_lost_edit_is_sent_again() -> None:
    """An edit whose call failed is raised with its batch; the repeat stores it once."""
    stub = Stub()
    bank, first = store(stub), AddMessagesContext(sequence_numbers=[0], message_ids=["m1"])
    asyncio.run(bank.add_messages([user("a")], first))
    stub.lose_edits = 1
    with pytest.raises(Unavailable):
        asyncio.run(bank.add_messages([user("b")], first))
    assert asyncio.run(bank.add_messages([user("b")], first)) == Ingested(1)
    assert stub.texts == ["a", "b"]


# ---- runs


def test_initialize_begins_a_run() -> None:
    """An agent that begins anew has new ids for the same numbers and words."""
    stub = Stub()
    bank = store(stub)
    add(bank, "ok")
    asyncio.run(bank.initialize())
    add(bank, "ok")
    assert stub.texts == ["ok", "ok"]
    assert [request.method for request in stub.requests] == ["POST", "GET", "POST"]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_initialize_while_away(status: int, caplog: pytest.LogCaptureFixture) -> None:
    """While the service is away an agent begins without memory, which is logged once; then memory is back."""
    stub = Stub(faults=[status] * 2)
    bank = store(stub)
    with caplog.at_level("INFO"):
        asyncio.run(bank.initialize())
        asyncio.run(bank.initialize())
        add(bank, "q0")
        add(bank, "q1", first=1)
    assert stub.texts == ["q0", "q1"]
    messages = [record.message for record in caplog.records if record.name.startswith("streambank_client.strands")]
    assert messages == ["memory unavailable", "memory available again"]


def test_initialize_fails() -> None:
    """A bank that is not there or not ours is known when the agent is made."""
    for status, error in ((404, NotFound), (401, Unauthenticated)):
        with pytest.raises(error):
            asyncio.run(store(Stub(faults=[status])).initialize())


# ---- loops that end


class Slow:
    """Holds a request until it is let go."""

    def __init__(self) -> None:
        self.reached, self.opened = threading.Event(), threading.Event()

    def __call__(self) -> None:
        self.reached.set()
        assert self.opened.wait(10)


def test_cancelled_write_settles() -> None:
    """A write that is cancelled waits for its reply and returns as if it had not been."""
    slow = Slow()
    stub = Stub(before=slow)
    bank = store(stub)

    async def cancelled() -> Ingested:
        writing = asyncio.create_task(bank.add_messages([user("a")], numbered(0)))
        await asyncio.to_thread(slow.reached.wait, 10)
        writing.cancel()
        await asyncio.sleep(0)
        writing.cancel()
        slow.opened.set()
        return await writing

    assert asyncio.run(cancelled()).sent == 1
    assert stub.texts == ["a"]


def test_loop_ends_during_write() -> None:
    """A write that was begun when `asyncio.run` ends is finished first."""
    stub = Stub(before=lambda: threading.Event().wait(0.1))
    bank, results = store(stub), list[Ingested]()

    async def write(number: int) -> None:
        results.append(await bank.add_messages([user(f"q{number}")], numbered(number)))

    async def request(number: int) -> None:
        write_task = asyncio.create_task(write(number))
        await asyncio.sleep(0)
        assert not write_task.done()

    for number in range(3):
        asyncio.run(request(number))
    assert stub.texts == ["q0", "q1", "q2"]
    assert [result.sent for result in results] == [1, 1, 1]


def test_cancelled_write_fails() -> None:
    """A cancelled write that fails raises an ordinary exception, which a manager takes for a failure."""
    slow = Slow()
    bank = store(Stub(before=slow, faults=[503]))

    async def cancelled() -> None:
        writing = asyncio.create_task(bank.add_messages([user("a")], numbered(0)))
        await asyncio.to_thread(slow.reached.wait, 10)
        writing.cancel()
        slow.opened.set()
        with pytest.raises(Unavailable):
            await writing

    asyncio.run(cancelled())


def test_cancelled_search() -> None:
    """A search that is cancelled is given up."""
    slow = Slow()
    bank = store(Stub(before=slow))

    async def cancelled() -> None:
        searching = asyncio.create_task(bank.search("x"))
        await asyncio.to_thread(slow.reached.wait, 10)
        searching.cancel()
        with pytest.raises(asyncio.CancelledError):
            await searching

    asyncio.run(cancelled())
    slow.opened.set()


# ---- searching


def test_search() -> None:
    """Memories come with their name and distance, beside metadata of their own."""
    stub = Stub(facts=[remembered("likes tea", 0.25, mood="calm")])
    (entry,) = asyncio.run(store(stub).search("drinks?"))
    assert entry.content == "likes tea"
    assert entry.metadata == {
        "mood": "calm",
        "_name": "reasoningEngines/b/memories/likes tea",
        "_distance": 0.25,
        "_update_time": datetime.fromisoformat("2026-03-01T12:00:00Z"),
    }


@pytest.mark.parametrize(
    ("options", "own", "top_k"),
    [(None, None, 3), ({"max_search_results": 7}, 2, 7), ({}, 2, 2), ({"max_search_results": 1_000}, None, 100)],
)
def test_search_size(options: Any, own: int | None, top_k: int) -> None:
    """A caller's number wins over the store's, that over 3, and the service's most is not exceeded."""
    stub = Stub(facts=[remembered(f"fact {number}", number / 1_000) for number in range(200)])
    assert len(asyncio.run(store(stub, max_search_results=own).search("x", options))) == top_k
    asyncio.run(store(stub, max_search_results=own, include_pending=False).search("x", options))
    assert stub.bodies[1]["similaritySearchParams"]["topK"] == top_k


@pytest.mark.parametrize(("top_k", "texts"), [(1, ["f0"]), (3, ["q0", "f0", "f1"]), (4, ["q0", "q1", "f0", "f1"])])
def test_messages_leave_room_for_memories(top_k: int, texts: list[str]) -> None:
    """Pending messages that are nearer take at most half of the places of memories."""
    stub = Stub(facts=[remembered(f"f{number}", 1 + number / 10) for number in range(5)])
    stub.pending = [waiting(f"e{number}", f"q{number}", number / 10) for number in range(5)]
    entries = asyncio.run(store(stub).search("x", {"max_search_results": top_k}))
    assert [entry.content for entry in entries] == texts


def test_search_query() -> None:
    """A query of white space asks nothing, and one that is longer than the service takes is cut between characters."""
    stub = Stub()
    bank = store(stub)
    assert asyncio.run(bank.search(" \n")) == []
    assert stub.requests == []
    asyncio.run(bank.search("é" * 5_000))
    assert stub.bodies[0]["similaritySearchParams"]["searchQuery"] == "é" * 4_096


def test_search_finds_pending_messages() -> None:
    """Messages without memories yet are results, except those of this run and the query itself."""
    stub = Stub()
    bank = store(stub)
    add(bank, "I have a dog.")
    own = waiting(next(iter(stub.events)), "I have a dog.", 0.05)
    stub.pending = [own, waiting("other-1", "I live in Linz.", 0.1), waiting("other-2", "where?", 0.0)]
    stub.facts = [remembered("lives in Graz", 0.2)]
    entries = asyncio.run(bank.search("where?"))
    assert [entry.content for entry in entries] == ["I live in Linz.", "lives in Graz"]
    assert entries[0].metadata == {"_pending": True, "_role": "user", "_distance": 0.1}
    assert stub.bodies[-1]["similaritySearchParams"] == {"searchQuery": "where?", "topK": 26, "includePending": True}
    asyncio.run(bank.initialize())
    assert next(entry.content for entry in asyncio.run(bank.search("where?"))) == "I have a dog."


def test_pending_messages_can_be_left_out() -> None:
    """Without them a search requests no events."""
    stub = Stub()
    asyncio.run(store(stub, include_pending=False).search("x"))
    assert stub.bodies == [{"scope": SCOPE, "similaritySearchParams": {"searchQuery": "x", "topK": 3}}]


def test_search_fails() -> None:
    """A search that fails raises: its caller goes on without."""
    with pytest.raises(Unavailable):
        asyncio.run(store(Stub(faults=[503])).search("x"))


# ---- single facts


def facts(stub: Stub, **more: Any) -> BankFactStore:
    return BankFactStore(client=stub.client(retries=0), scope=SCOPE, **more)


def test_add_is_repeatable() -> None:
    """A fact whose reply was lost is added again and is one memory."""
    stub = Stub(lose=1)
    bank = facts(stub)
    with pytest.raises(Unavailable):
        asyncio.run(bank.add("likes tea", {"when": [1], "sure": True, "mood": "calm"}))
    asyncio.run(bank.add("likes tea", {"when": [1], "sure": True, "mood": "calm"}))
    (memory,) = stub.memories.values()
    assert memory["fact"] == "likes tea"
    assert memory["metadata"] == {
        "when": {"stringValue": "[1]"},
        "sure": {"boolValue": True},
        "mood": {"stringValue": "calm"},
    }


def test_add_refuses_blank() -> None:
    """A blank fact is refused before it is sent."""
    with pytest.raises(ValueError, match="blank"):
        asyncio.run(facts(Stub()).add("  "))


def test_add_cuts() -> None:
    """A fact that is longer than the service takes is cut: refused, it would hold up an extraction for ever."""
    stub = Stub()
    asyncio.run(facts(stub).add("x" * 9_000))
    assert [len(memory["fact"]) for memory in stub.memories.values()] == [8_192]


def test_add_after_deletion() -> None:
    """A fact that was deleted since it was added in this run is not an error, and stays deleted."""
    asyncio.run(facts(Stub(faults=[409])).add("likes tea"))


def test_only_fact_stores_add() -> None:
    """A store that the service extracts for has no `add`, one for an extractor has."""
    with pytest.raises(ValueError, match="no add"):
        StreambankMemoryManager([store(Stub(), extraction=ExtractionConfig(extractor=Shouting()))])
    assert not hasattr(BankStore, "add")


# ---- under our manager


def test_manager_with_extractor() -> None:
    """Facts that an extractor finds become memories."""
    stub = Stub()
    manager = StreambankMemoryManager([facts(stub, extraction=ExtractionConfig(extractor=Shouting()))])
    turn(manager.attach(), 1)
    assert manager.flush_sync().failed == 0
    assert sorted(memory["fact"] for memory in stub.memories.values()) == ["A1", "Q1"]


def test_one_store_for_many_agents() -> None:
    """Under our manager any number of agents share a store, also where they say the same."""
    stub = Stub()
    manager = StreambankMemoryManager([store(stub)])
    agents = [manager.attach() for _ in range(3)]
    for agent in agents:
        turn(agent, 1)
    assert manager.flush_sync().saved == 6
    assert sorted(stub.texts) == ["a1"] * 3 + ["q1"] * 3


def test_replayed_messages() -> None:
    """A message with an id of its own is stored once, though a restarted agent tells of it again."""
    stub = Stub()
    for _ in range(2):
        manager = StreambankMemoryManager([store(stub)])
        agent = manager.attach()
        agent.message_added(user("q1", tracking_id="t1"))
        agent.message_added(assistant("a1", tracking_id="t2"))
        manager.flush_sync()
    assert stub.texts == ["q1", "a1"]


def test_poison_under_manager() -> None:
    """A message that the service refuses is reported as lost, once, and holds up nothing."""
    stub = Stub(poison=lambda text: 400 if text == "a1" else None)
    manager = StreambankMemoryManager([store(stub)])
    agent = manager.attach()
    turn(agent, 1)
    turn(agent, 2)
    result = manager.flush_sync()
    assert (result.saved, result.failed, result.lost) == (3, 1, 1)
    assert stub.texts == ["q1", "q2", "a2"]
    assert manager.flush_sync().failed == 0


def test_blank_result() -> None:
    """What an extractor cannot even make, a blank fact, does not reach a store."""
    with pytest.raises(ValueError, match="blank"):
        ExtractionResult(" ")
