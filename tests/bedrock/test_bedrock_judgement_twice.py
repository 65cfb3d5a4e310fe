"""A model that is wrong twice, or that copies its instructions, over HTTP; and what it reads of days and zones."""

import json
import re
from collections.abc import Iterator

import pytest

from streambank.llm.dialogue import prompts
from streambank_local.service import LocalService
from tests.bedrock.converse_server import Bedrock
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


def rows(request, tag):
    """Return the rows of a request between the tags *tag*."""
    inside = request["messages"][0]["content"][0]["text"].partition(f"<{tag}>")[2].partition(f"</{tag}>")[0]
    return [json.loads(line) for line in inside.strip().splitlines()]


def test_two_updates_of_one_memory_that_begin_with_its_old_text_keep_both_facts(caller, server):
    """A stand-in that knows no `change` decides in the second answer; the later fact is a memory of its own."""
    stream = caller.stream()
    remember(caller, stream, "I live in Porto")
    verdicts = play(
        caller,
        server,
        stream,
        ["I am a baker.", "I have three parrots."],
        facts({"fact": "I am a baker", "events": [1]}, {"fact": "I have three parrots", "events": [2]}),
        decisions(
            {"fact": 1, "action": "UPDATE", "memory": 1, "text": "I live in Porto and am a baker"},
            {"fact": 2, "action": "UPDATE", "memory": 1, "text": "I live in Porto and have three parrots"},
        ),
    )
    assert [one["verdict"] for one in verdicts] == ["UPDATED", "CREATED"]
    assert sorted(caller.facts(stream.scope)) == ["I have three parrots", "I live in Porto and am a baker"]


def test_an_update_of_no_memory_in_both_tries_costs_no_fact(caller, server):
    """Nothing in the answer can be used, so it is asked for again; after that the fact is created, not parked."""
    stream = caller.stream()
    remember(caller, stream, "I play the cello")
    useless = decisions({"fact": 1, "action": "UPDATE", "text": "I built a greenhouse"})
    reply = facts({"fact": "I built a greenhouse", "events": [1]})
    verdicts = play(caller, server, stream, ["I built a greenhouse."], reply, useless, useless)
    assert outcome(verdicts) == [("CREATED", "I built a greenhouse")]
    assert sorted(caller.facts(stream.scope)) == ["I built a greenhouse", "I play the cello"]
    first, second = server.asked[-2:]
    assert first["inferenceConfig"]["temperature"] != second["inferenceConfig"]["temperature"]


def test_a_usable_row_needs_no_second_try(caller, server):
    """A blank row and a missing decision cost themselves, and nobody is asked again for them."""
    stream = caller.stream()
    remember(caller, stream, "I play the cello")
    play(
        caller,
        server,
        stream,
        ["I keep geese.", "I go rowing."],
        facts({"fact": "  ", "events": [1]}, {"fact": "I keep geese", "events": [1]}, {"fact": "I row", "events": [2]}),
        decisions({"fact": 1, "action": "CREATE", "text": "I keep geese"}),
    )
    assert sorted(caller.facts(stream.scope)) == ["I keep geese", "I play the cello", "I row"]
    assert len(server.asked) == 2


def test_a_text_that_is_doubtful_twice_gives_way_to_its_fact(caller, server):
    """Both answers give a memory a text that nobody said: the memory stays, and the fact is a memory of its own."""
    stream = caller.stream()
    remember(caller, stream, "I play the cello")
    castle = {"memories": [1], "text": "I play the cello in my castle in Scotland"}
    verdicts = play(
        caller,
        server,
        stream,
        ["I started to learn the violin."],
        facts({"fact": "I learn the violin", "events": [1], "change": "CHANGES", **castle}),
        decisions({"fact": 1, "action": "UPDATE", **castle}),
    )
    assert outcome(verdicts) == [("CREATED", "I learn the violin")]
    assert sorted(caller.facts(stream.scope)) == ["I learn the violin", "I play the cello"]


def test_examples_of_the_instructions_are_no_facts(caller, server):
    """A model that copies every sentence of its examples loses those rows alone: what was said is remembered."""
    answers = re.findall("^Answer: (.*)$", prompts.stable_text(prompts.EXTRACT), re.MULTILINE)
    examples = [row["fact"] for answer in map(json.loads, answers) for row in answer["facts"]]
    assert examples
    stream = caller.stream()
    reply = facts(*({"fact": one, "events": [1]} for one in examples), {"fact": "I have a kayak", "events": [1]})
    verdicts = play(caller, server, stream, ["I have a kayak."], reply)
    assert {one["verdict"] for one in verdicts[:-1]} == {"REJECTED"}
    assert caller.facts(stream.scope) == ["I have a kayak"]


def test_both_prompts_have_the_weekday_in_the_users_zone(caller, server):
    """What was said on Saturday evening in UTC is a Sunday's in Tokyo, for the facts as for the turns."""
    stream = caller.stream()
    stream.flush(said("I have no car", at="2026-03-01T16:00:00Z"))
    server.asked = []
    play(
        caller,
        server,
        stream,
        [said("I have had a car since yesterday.", at="2026-03-07T16:00:00Z")],
        facts({"fact": "I have had a car since 7 March 2026", "events": [1]}),
        decisions({"fact": 1, "action": "UPDATE", "memory": 1, "text": "I have had a car since 7 March 2026"}),
        time_zone="Asia/Tokyo",
    )
    first, second = server.asked
    [turn], [fact] = rows(first, "conversation"), rows(second, "facts")
    assert (turn["day"], turn["time"]) == (fact["day"], fact["time"]) == ("Sun", "2026-03-08T01:00+09:00")
    assert caller.facts(stream.scope) == ["I have had a car since 7 March 2026"]
