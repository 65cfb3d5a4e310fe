"""What a model may get wrong, over HTTP: whatever it answers, no fact is lost and nothing is deleted by one answer."""

import json
from collections.abc import Iterator

import pytest

from streambank_local.service import LocalService
from tests.bedrock.converse_server import Bedrock, text
from tests.bedrock.judging import decisions, facts, outcome, play, remember, scripted_caller, scripted_service
from tests.journeys.caller import Caller, said


@pytest.fixture(scope="module")
def both() -> Iterator[tuple[LocalService, Bedrock]]:
    with scripted_service() as both:
        yield both


@pytest.fixture
def server(both: tuple[LocalService, Bedrock]) -> Bedrock:
    return both[1]


@pytest.fixture
def caller(both: tuple[LocalService, Bedrock]) -> Iterator[Caller]:
    with scripted_caller(*both) as caller:
        yield caller


def test_one_answer_alone_never_deletes(caller, server):
    """A DELETE for a fact that forgets nothing is not followed, and the new fact is a memory."""
    stream = caller.stream()
    remember(caller, stream, "I am allergic to peanuts")
    verdicts = play(
        caller,
        server,
        stream,
        ["I love hiking."],
        facts({"fact": "I love hiking", "events": [1], "topic": "USER_PREFERENCES"}),
        decisions({"fact": 1, "action": "DELETE", "memory": 1}),
    )
    assert outcome(verdicts) == [("CREATED", "I love hiking")]
    assert sorted(caller.facts(stream.scope)) == ["I am allergic to peanuts", "I love hiking"]


def test_a_contradiction_is_an_update(caller, server):
    """A change of one memory is done without a second call; a second answer that would delete it is not followed."""
    stream = caller.stream()
    remember(caller, stream, "I live in Graz")
    moved = {"fact": "I live in Wien", "events": [1], "change": "CHANGES", "memories": [1], "text": "I live in Wien"}
    verdicts = play(caller, server, stream, ["I moved to Wien."], facts(moved))
    assert outcome(verdicts) == [("UPDATED", "I live in Wien")]
    assert caller.facts(stream.scope) == ["I live in Wien"]
    other = {"fact": "We moved to Linz", "events": [1], "change": "CHANGES", "memories": [1], "text": "Linz is home"}
    play(
        caller,
        server,
        stream,
        ["We moved to Linz."],
        facts(other),
        decisions({"fact": 1, "action": "DELETE", "memory": 1}),
    )
    assert caller.facts(stream.scope) == ["Linz is home"]


def test_two_changes_of_one_memory_are_both_kept(caller, server):
    """Where each begins with the old text, the second one's fact becomes a memory of its own."""
    stream = caller.stream()
    remember(caller, stream, "I live in Graz")
    play(
        caller,
        server,
        stream,
        ["I am a nurse.", "I have two cats."],
        facts(
            {"fact": "I am a nurse", "events": [1], "change": "NEW"},
            {"fact": "I have two cats", "events": [2], "change": "NEW"},
            {"fact": "I am a nurse in Graz", "events": [1]},
        ),
        decisions(
            {"fact": 1, "action": "UPDATE", "memory": 1, "text": "I live in Graz and am a nurse"},
            {"fact": 2, "action": "UPDATE", "memory": 1, "text": "I live in Graz and have two cats"},
        ),
    )
    text = " ".join(caller.facts(stream.scope))
    assert all(word in text for word in ("Graz", "nurse", "cats"))


def test_all_that_is_meant_is_forgotten(caller, server):
    """Both answers name three memories: all go, and each has a verdict."""
    stream = caller.stream()
    sam = ["Sam is my brother", "Sam plays chess", "Sam lives in Linz"]
    remember(caller, stream, *sam, "I live in Graz")

    def forget(request):
        rows = [
            json.loads(line)
            for line in request["messages"][0]["content"][0]["text"].splitlines()
            if line.startswith("{")
        ]
        numbers = [row["n"] for row in rows if "Sam" in row.get("memory", "")]
        if request["toolConfig"]["tools"][0]["toolSpec"]["name"] == "record_facts":
            fact = {"fact": "Forget: everything about Sam", "events": [1], "change": "FORGETS", "memories": numbers}
            return facts(fact)
        return decisions({"fact": 1, "action": "DELETE", "memories": numbers})

    before, server.model = server.model, forget
    try:
        verdicts = play(caller, server, stream, ["Forget everything about Sam."])
    finally:
        server.model = before
    assert [one["verdict"] for one in verdicts] == ["DELETED"] * 3
    assert len({one["memory"] for one in verdicts}) == 3
    assert caller.facts(stream.scope) == ["I live in Graz"]


def test_rows_that_cannot_be_used_cost_themselves(caller, server):
    """An UPDATE without a memory, a blank fact and a missing decision lose nothing else, and park nothing."""
    stream = caller.stream()
    remember(caller, stream, "I live in Graz")
    verdicts = play(
        caller,
        server,
        stream,
        ["I keep bees.", "I like okra."],
        facts(
            {"fact": "I keep bees", "events": [1]}, {"fact": " ", "events": [1]}, {"fact": "I like okra", "events": [2]}
        ),
        decisions({"fact": 1, "action": "UPDATE", "text": "I keep bees"}),
    )
    assert [one["verdict"] for one in verdicts] == ["CREATED", "REJECTED", "CREATED"]
    assert sorted(caller.facts(stream.scope)) == ["I keep bees", "I like okra", "I live in Graz"]


def test_what_nobody_said_is_asked_about_and_rejected(caller, server):
    """The assistant's own turn is no ground; words that are in no turn need a second answer."""
    stream = caller.stream()
    verdicts = play(
        caller,
        server,
        stream,
        [said("I live in Graz."), said("You could move to Wien.", role="model")],
        facts(
            {"fact": "I own three yachts in Monaco", "events": [1]},
            {"fact": "I want to move to Wien", "events": [2]},
            {"fact": "I live in Graz", "events": [1]},
        ),
        decisions({"fact": 1, "action": "NONE", "reason": "nobody said this"}),
    )
    assert [(one["verdict"], one.get("reason")) for one in verdicts] == [
        ("REJECTED", "nobody said this"),
        ("REJECTED", "only the assistant said it"),
        ("CREATED", "new"),
    ]
    assert caller.facts(stream.scope) == ["I live in Graz"]


def test_a_text_that_nobody_said_gives_way_to_its_fact(caller, server):
    """A text of the second answer with words of nowhere is refused; its fact becomes a memory of its own."""
    stream = caller.stream()
    remember(caller, stream, "I live in Graz")
    play(
        caller,
        server,
        stream,
        ["I have a garden."],
        facts({"fact": "I have a garden", "events": [1]}),
        decisions({"fact": 1, "action": "UPDATE", "memory": 1, "text": "I own a castle in Spain"}),
    )
    assert sorted(caller.facts(stream.scope)) == ["I have a garden", "I live in Graz"]


def test_a_first_window_is_compared_with_itself(caller, server):
    """Two facts that are close are asked about, and may become one memory with both sources."""
    stream = caller.stream()
    verdicts = play(
        caller,
        server,
        stream,
        ["My rent is 900 euros a month.", "My rent is 950 euros a month now."],
        facts(
            {"fact": "My rent is 900 euros a month", "events": [1], "change": "NEW"},
            {"fact": "My rent is 950 euros a month", "events": [2], "change": "NEW"},
        ),
        decisions(
            {"fact": 1, "action": "NONE", "same_as": 2},
            {"fact": 2, "action": "CREATE", "text": "My rent is 950 euros a month"},
        ),
    )
    assert [one["verdict"] for one in verdicts] == ["REJECTED", "CREATED"]
    assert caller.facts(stream.scope) == ["My rent is 950 euros a month"]


@pytest.mark.parametrize(
    ("time", "zone"), [("0001-01-01T00:00:00Z", "America/New_York"), ("9999-12-31T23:59:59Z", "Asia/Tokyo")]
)
def test_any_legal_time_can_be_given_to_a_model(caller, server, time, zone):
    """The first and the last instant of the calendar spoil no window, in whatever zone."""
    stream = caller.stream()
    done = stream.flush(said("I keep bees", at=time), said("I like okra"), time_zone=zone)
    assert done["metadata"]["state"] == "DONE"
    assert sorted(caller.facts(stream.scope)) == ["I keep bees", "I like okra"]


def test_a_topic_of_no_bank_is_dropped(caller, server):
    """Where the bank names no topics, a fact with an unknown topic is kept without it."""
    stream = caller.stream()
    play(caller, server, stream, ["I keep bees."], facts({"fact": "I keep bees", "events": [1], "topic": "FOO"}))
    [memory] = caller.memories(stream.scope)
    assert "FOO" not in str(memory)


def test_what_can_be_read_needs_no_second_try(caller, server):
    """Prose around the answer, an example before it, numbers as text and small letters are read as they are meant."""
    stream = caller.stream()
    answer = (
        'For example {"facts": [{"fact": "X", "events": [9]}]}. My answer: '
        '{"facts": [{"fact": "I keep bees", "events": ["1"], "change": "new"}]} Done.'
    )
    play(caller, server, stream, ["I keep bees."], text(answer))
    assert caller.facts(stream.scope) == ["I keep bees"]


def test_a_restated_fact_adds_its_source_whatever_its_time(caller, server):
    """An older statement of a memory is further evidence: no revision, no new text, one source more."""
    stream = caller.stream()
    first = stream.flush(said("I keep bees", at="2026-02-01T00:00:00Z"))
    assert first["metadata"]["state"] == "DONE"
    [before] = caller.memories(stream.scope)
    repeats = {"fact": "I keep bees", "events": [1], "change": "REPEATS", "memories": [1]}
    turns = [said("As I said, I keep bees", at="2025-01-01T00:00:00Z")]
    verdicts = play(caller, server, stream, turns, facts(repeats))
    [after] = caller.memories(stream.scope)
    assert outcome(verdicts) == [("UNCHANGED", "I keep bees")]
    assert after["updateTime"] == before["updateTime"]
    assert len(after["sources"]) == len(before["sources"]) + 1
