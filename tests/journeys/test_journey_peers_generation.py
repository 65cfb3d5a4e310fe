"""What users of other memory services complain of about content, security and visibility, and how it goes here.

The numbers are those of the complaint log. Rows that need a model that misbehaves (C13 to C16, C21, C24 to C26, C57,
C60, C62, C65) are in tests/bedrock; C70, the README's commands on a fresh machine, in tests/infra/test_demo.
"""

from __future__ import annotations

import pytest

from tests.journeys.caller import Caller, Document, said

IMAGE = {"content": {"role": "user", "parts": [{"inline_data": {"mime_type": "image/png", "data": "AAAA"}}]}}


EVENTS = {
    "empty": said(""),
    "blank": said("  \n"),
    "image": IMAGE,
    "no part": {"content": {"role": "user", "parts": []}},
}


@pytest.mark.parametrize("event", EVENTS.values(), ids=EVENTS)
def test_c54_events_without_text_are_counted_and_never_prompted(caller: Caller, event: Document) -> None:
    """An event without text is accepted and counted; it makes no memory and asks no model."""
    stream = caller.stream()
    done = stream.flush(event)["metadata"]
    assert done["coverage"]["events"] == 1
    assert done["modelCalls"] == 0
    assert caller.facts(stream.scope) == []


def test_c54_a_call_that_names_no_event_is_refused(caller: Caller) -> None:
    """An empty list of events is 400: nobody means it."""
    stream = caller.stream()
    body = stream.body() | {"directContentsSource": {"events": []}}
    assert "events" in caller.post(f"{stream.bank}/memories:ingestEvents", body, status=400)["error"]["message"]


def test_c59_what_others_say_is_no_fact_about_the_user(caller: Caller) -> None:
    """What the assistant would like is not what the user likes, and a question about Ana does not make the user Ana."""
    stream = caller.stream()
    stream.flush(said("I'd pick Lisbon.", role="model"), said("What are Ana's targets?"))
    assert not [fact for fact in caller.facts(stream.scope) if "Lisbon" in fact or "Ana" in fact]


def test_c64_a_memory_is_data_with_its_source(caller: Caller) -> None:
    """What is retrieved says where it comes from and when, and is the fact itself, not an instruction around it."""
    stream = caller.stream()
    done = stream.flush(said("hello", "e1"), said("I keep bees.", "e2"))
    [memory] = caller.memories(stream.scope)
    assert memory["fact"] == "I keep bees"
    [source] = memory["sources"]
    assert source["sequences"] == [2]
    assert caller.get(source["operation"])["metadata"]["window"] == done["metadata"]["window"]
    assert {"createTime", "updateTime"} <= memory.keys()


def test_c66_what_is_queued_is_not_called_saved(caller: Caller) -> None:
    """The reply of a call says how many events were taken, how many wait, and what fires next and when."""
    stream = caller.stream()
    sent = stream.send(said("I keep bees.", "e1"), said("I keep bees.", "e1"), rule={"idleDuration": "300s"})
    told = sent["metadata"]
    assert sent["done"] is False
    assert (told["acceptedEvents"], told["duplicateEvents"], told["pendingEvents"]) == (1, 1, 1)
    assert told["state"] == "BUFFERING"
    assert told["nextTrigger"]["kind"] == "IDLE_DURATION"
    assert told["nextTrigger"]["time"] > told["genericMetadata"]["createTime"]


def test_c67_a_near_duplicate_has_a_verdict(caller: Caller) -> None:
    """A candidate that changes nothing is told with the memory that says it already, not with an empty result."""
    stream = caller.stream()
    stream.flush(said("My dog is called Fen."))
    [memory] = caller.memories(stream.scope)
    done = stream.flush(said("My dog is called Fen."))
    [verdict] = caller.get(done["metadata"]["generateMemoriesOperation"])["response"]["verdicts"]
    assert verdict["memory"] == memory["name"]
    assert verdict["reason"]
    assert len(caller.memories(stream.scope)) == 1
