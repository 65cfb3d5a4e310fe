"""What the adapters read in an answer: row by row, and only what was offered."""

import json

import pytest

from streambank import errors
from streambank.llm.ports import ExtractionRequest, FactChange, ProfileSchema, Turn
from tests.bedrock.converse_server import message, text, tool
from tests.bedrock.requests import DOUBTFUL, GOOD, NOW, REQUEST, WITH_MEMORIES

BEES = GOOD["facts"][0]
HENS = {"fact": "I keep hens", "events": [1]}

READABLE = {
    "prose around JSON": text(f"Sure! Here it is: {json.dumps(GOOD)} Anything else?"),
    "fences": text(f"```json\n{json.dumps(GOOD, indent=2)}\n```"),
    "an array on top": text(json.dumps(GOOD["facts"])),
    "an array on top, and another one after it": text(f"{json.dumps(GOOD['facts'])} from turns [1] and []"),
    "a list written as text": tool("record_facts", {"facts": json.dumps(GOOD["facts"])}),
    "an object written as text": tool("record_facts", json.dumps(GOOD)),
    "a row in place of a list": tool("record_facts", {"facts": BEES}),
    "a wrapper": tool("record_facts", {"record_facts": GOOD}),
    "numbers as text": tool("record_facts", {"facts": [{**BEES, "events": "1"}]}),
    "a number in place of a list": tool("record_facts", {"facts": [{**BEES, "events": 1}]}),
    "numbers in a text": tool("record_facts", {"facts": [{**BEES, "events": "[1, 9]"}]}),
    "marked numbers": tool("record_facts", {"facts": [{**BEES, "events": ["#1", 1.0, "1.0"]}]}),
    "a broken escape": text(r'{"facts": [{"fact": "I keep bees", "events": [1], "note": "C:\dir"}]}'),
    "another tool": tool("remember", GOOD),
    "no end": text('{"facts": [{"fact": "I keep bees", "events": [1]}]'),
    "an example before the answer": text(f'Like {{"facts": [{json.dumps(HENS)}]}}: {json.dumps(GOOD)}'),
    "a cut answer after the answer": text(f'{json.dumps(GOOD)} {{"facts": [{{"fact": "I ke'),
    "several calls": message(
        [
            {"toolUse": {"toolUseId": "t1", "name": "record_facts", "input": {"facts": [HENS]}}},
            {"toolUse": {"toolUseId": "t2", "name": "record_facts", "input": GOOD}},
            {"toolUse": {"toolUseId": "t3", "name": "remember", "input": {"facts": [HENS]}}},
        ],
        "tool_use",
    ),
}


@pytest.mark.parametrize("reply", READABLE.values(), ids=READABLE)
def test_an_answer_whose_meaning_is_clear_is_used(server, extractor, reply):
    """Odd JSON is read as it is meant; of several objects the last complete one is the answer; one call."""
    server.script = [reply]
    assert [(one.fact, one.events) for one in extractor.extract(REQUEST).facts] == [("I keep bees", (1,))]
    assert len(server.asked) == 1


UNREADABLE = {
    "nothing": text(" "),
    "prose": text("I found nothing of interest."),
    "no list": tool("record_facts", {}),
    "cut JSON": text('{"facts": [{"fact": "I keep be'),
    "a malformed call": tool("record_facts", {}, stop="malformed_tool_use"),
}
REFUSED = {
    "facts as texts": ("I keep bees", "I keep bees", "the row is not an object"),
    "no events": ({"fact": "I keep bees"}, "I keep bees", "the row does not name its turns by number"),
    "words as events": (
        {"fact": "x" * 300, "events": ["one"]},
        "x" * 200,
        "the row does not name its turns by number",
    ),
    "no text": ({"fact": " ", "events": [1]}, "", "the row has no fact that can be read"),
    "no fact": ({"events": [1]}, "", "the row has no fact that can be read"),
    "half a surrogate": ({"fact": "likes \ud83d", "events": [1]}, "likes", "the row has no fact that can be read"),
    "an example": (
        {"fact": "I live in City-1", "events": [1]},
        "I live in City-1",
        "the row copies an example of the instructions",
    ),
}


@pytest.mark.parametrize(("row", "fact", "problem"), REFUSED.values(), ids=REFUSED)
def test_a_row_that_cannot_be_used_costs_that_row(server, extractor, row, fact, problem):
    """Its neighbours are read, and it says why it was not; nobody is asked again."""
    server.script = [tool("record_facts", {"facts": [row, BEES]})]
    refused, bees = extractor.extract(REQUEST).facts
    assert (refused.fact, refused.events, refused.problem) == (fact, (), problem)
    assert (bees.fact, bees.events, bees.problem) == ("I keep bees", (1,), "")
    assert len(server.asked) == 1


USELESS = UNREADABLE | {name: tool("record_facts", {"facts": [row]}) for name, (row, _, _) in REFUSED.items()}


@pytest.mark.parametrize("reply", USELESS.values(), ids=USELESS)
def test_an_answer_without_a_usable_row_is_asked_for_once_more(server, extractor, reply):
    """The model sees its answer and what is wrong with it, at another temperature; both calls are paid for."""
    server.script = [reply, tool("record_facts", GOOD)]
    answer = extractor.extract(REQUEST)
    assert [one.fact for one in answer.facts] == ["I keep bees"]
    assert answer.usage.calls == 2
    again = server.asked[1]["messages"]
    assert [turn["role"] for turn in again] == ["user", "assistant", "user"]
    assert "cannot be used" in json.dumps(again[2])
    assert [one["inferenceConfig"]["temperature"] for one in server.asked] == [0.0, 0.4]


@pytest.mark.parametrize("reply", UNREADABLE.values(), ids=UNREADABLE)
def test_a_second_unreadable_answer_fails_visibly(server, extractor, reply):
    """Where neither answer has an object with a list, the window fails, with what was spent."""
    server.script = [reply, reply]
    with pytest.raises(errors.ModelOutputInvalid) as failure:
        extractor.extract(REQUEST)
    assert failure.value.spent.calls == 2
    assert len(server.asked) == 2


@pytest.mark.parametrize("order", [(0, 0), (0, 1), (1, 0)])
def test_an_answer_whose_every_row_is_refused_is_an_answer(server, extractor, consolidator, order):
    """After the second try what could be read is kept, from whichever try it came."""
    for name, rows in (("record_facts", {"facts": ["I keep bees"]}), ("consolidate", {"decisions": ["none"]})):
        replies = tool(name, rows), text("Sorry.")
        server.script += [replies[number] for number in order]
    assert [one.problem for one in extractor.extract(REQUEST).facts] == ["the row is not an object"]
    assert consolidator.consolidate(DOUBTFUL).decisions == ()
    assert len(server.asked) == 4


def test_an_empty_list_is_an_answer(server, extractor, consolidator):
    """A model that says that there is nothing has answered, in one call."""
    server.script = [tool("record_facts", {"facts": []}), tool("consolidate", {"decisions": []})]
    assert extractor.extract(REQUEST).facts == ()
    assert consolidator.consolidate(DOUBTFUL).decisions == ()
    assert len(server.asked) == 2


def test_a_model_that_repeats_itself_is_cut(server, extractor):
    """Of more than a thousand rows the first thousand are read."""
    rows = [{"fact": f"I keep {number} bees", "events": [1]} for number in range(1_001)]
    server.script = [tool("record_facts", {"facts": rows})]
    assert [one.fact for one in extractor.extract(REQUEST).facts] == [row["fact"] for row in rows[:1_000]]


CHANGES = {
    "NEW": FactChange.NEW,
    "add": FactChange.NEW,
    "Create": FactChange.NEW,
    " repeats ": FactChange.REPEATS,
    "NONE": FactChange.REPEATS,
    "same": FactChange.REPEATS,
    "changes": FactChange.CHANGES,
    "update": FactChange.CHANGES,
    "FORGETS": FactChange.FORGETS,
    "DELETE": FactChange.FORGETS,
    "forget": FactChange.FORGETS,
    "DROP TABLE": None,
    "": None,
    None: None,
    7: None,
}


@pytest.mark.parametrize(("word", "change"), CHANGES.items())
def test_what_a_fact_means_is_read_in_many_words(server, extractor, word, change):
    """Synonyms and lower case are understood; another word leaves the fact undecided."""
    row = {"fact": "I live in Linz", "events": [2], "change": word, "memories": [1, 9], "text": " I live in Linz "}
    server.script = [tool("record_facts", {"facts": [row]})]
    [fact] = extractor.extract(WITH_MEMORIES).facts
    assert (fact.change, fact.memories, fact.text, fact.problem) == (change, (1,), "I live in Linz", "")


MEMORIES = [([1, 2], (1, 2)), (2, (2,)), ("#2", (2,)), ("2.0", (2,)), ([1, 1], (1,)), ("1, 2", (1, 2))]
MEMORIES += [([3, "x", None, True, 2.5], ()), (None, ()), ({"n": 1}, ()), ("memory 1", ()), (-1, ()), ([[1]], ())]


@pytest.mark.parametrize("name", ["memories", "memory"])
@pytest.mark.parametrize(("value", "numbers"), MEMORIES)
def test_memories_are_named_by_offered_numbers_alone(server, extractor, consolidator, name, value, numbers):
    """In both tools, as a list or one by one; others are dropped, and the fact stays."""
    decision = {"fact": 1, "action": "NONE", name: value}
    server.script = [
        tool("record_facts", {"facts": [{"fact": "I live in Linz", "events": [2, 3], name: value}]}),
        tool("consolidate", {"decisions": [decision]}),
    ]
    [fact] = extractor.extract(WITH_MEMORIES).facts
    assert (fact.events, fact.memories) == ((2,), numbers)
    assert [one.memories for one in consolidator.consolidate(DOUBTFUL).decisions] == [numbers]


@pytest.mark.parametrize(
    ("topics", "topic", "read"),
    [
        ((), "USER_PREFERENCES", "USER_PREFERENCES"),
        ((), "user_preferences", "USER_PREFERENCES"),
        ((), "FOO", None),
        ((), ["USER_PREFERENCES"], None),
        (("jargon",), "Jargon", "jargon"),
        (("jargon",), "FOO", "FOO"),
    ],
)
def test_a_topic_that_was_not_offered_is_left_out(server, extractor, topics, topic, read):
    """M12: the fact stays; where the bank names its topics the answer stays as it is, and the pipeline refuses it."""
    server.script = [tool("record_facts", {"facts": [{**BEES, "topic": topic}]})]
    assert [one.topic for one in extractor.extract(ExtractionRequest(REQUEST.turns, topics=topics)).facts] == [read]


PROFILE = {"schema": "diet", "data": {"vegan": True}, "events": [1, 9]}
BAD_PROFILES = {
    "no object": ("vegan", "the profile is not an object"),
    "another schema": ({**PROFILE, "schema": "x"}, "the profile names no schema of the bank"),
    "no data": ({**PROFILE, "data": "vegan"}, "the profile has no data that can be read"),
    "half a surrogate": ({**PROFILE, "data": {"a": "\ud83d"}}, "the profile has no data that can be read"),
    "no number": ({**PROFILE, "data": {"age": float("nan")}}, "the profile has no data that can be read"),
    "no events": ({**PROFILE, "events": None}, "the profile does not name its turns by number"),
    "an example": ({**PROFILE, "data": {"a": "CITY-1"}}, "the profile copies an example of the instructions"),
}


@pytest.mark.parametrize("is_natural", [True, False])
@pytest.mark.parametrize(("row", "problem"), BAD_PROFILES.values(), ids=BAD_PROFILES)
def test_a_profile_that_cannot_be_used_costs_that_profile(server, extractor, row, problem, is_natural):
    """It is a refused row with its reason; facts and other profiles stay."""
    schema = ProfileSchema("diet", {"type": "object", "properties": {"vegan": {"type": "boolean"}}})
    request = ExtractionRequest(REQUEST.turns, schemas=(schema,), is_natural=is_natural)
    server.script = [tool("record_facts", {"facts": [BEES], "profiles": [row, PROFILE]})]
    answer = extractor.extract(request)
    assert [(one.schema, one.data, one.events) for one in answer.profiles] == [("diet", {"vegan": True}, (1,))]
    assert [one.problem for one in answer.facts] == [*([""] if is_natural else []), problem]


def test_profiles_may_come_without_facts(server, extractor):
    """A bank that keeps profiles only is answered by profiles only, in one call."""
    request = ExtractionRequest(REQUEST.turns, schemas=(ProfileSchema("diet", {}),), is_natural=False)
    server.script = [tool("record_facts", {"profiles": [PROFILE]})]
    assert len(extractor.extract(request).profiles) == 1
    assert len(server.asked) == 1


def test_a_placeholder_that_somebody_said_is_no_example(server, extractor):
    """A word of the examples is refused only where the data does not have it."""
    request = ExtractionRequest((Turn(1, "user", "My site is called city 1.", NOW),))
    row = {"fact": "My site is called CITY-1", "events": [1]}
    server.script = [tool("record_facts", {"facts": [row]})]
    assert [one.problem for one in extractor.extract(request).facts] == [""]


def test_an_echo_of_the_instructions_is_no_fact(server, extractor):
    """A sentence of the prompt loses its citations, and is rejected as ungrounded; what was said keeps them."""
    facts = [{"fact": "An empty list is a good answer", "events": [1]}, BEES]
    server.script = [tool("record_facts", {"facts": facts})]
    assert [one.events for one in extractor.extract(REQUEST).facts] == [(), (1,)]


TIMES = [
    ({"valid_from": "2026-05-01", "valid_until": "2026-06-01T12:00"}, "2026-05-01T00:00:00", "2026-06-01T12:00:00"),
    ({"valid_until": "2026-05-01"}, None, "2026-05-01T23:59:59"),
    ({"valid_from": "soon", "valid_until": 7}, None, None),
    ({"valid_from": ["2026-05-01"], "valid_until": "9999-12-31"}, None, None),
    ({"valid_from": "2026-05-02", "valid_until": "2026-05-01"}, "2026-05-02T00:00:00", None),
]


@pytest.mark.parametrize(("said", "start", "end"), TIMES)
def test_a_time_that_cannot_be_read_costs_the_time_alone(server, extractor, consolidator, said, start, end):
    """Both tools take from when until when a text holds; what is no plausible time leaves the fact as it is."""
    server.script = [tool("record_facts", {"facts": [{**BEES, **said}]})]
    [fact] = extractor.extract(REQUEST).facts
    server.script = [tool("consolidate", {"decisions": [{"fact": 1, "action": "CREATE", "text": "x", **said}]})]
    [decision] = consolidator.consolidate(DOUBTFUL).decisions
    assert fact.fact == BEES["fact"]
    assert not fact.problem
    for one in (fact.validity, decision.validity):
        assert (one.start and one.start.isoformat()[:19], one.end and one.end.isoformat()[:19]) == (start, end)


@pytest.mark.parametrize(
    ("said", "is_correction"), [(True, True), ("true", True), (False, False), ("no", False), (1, False)]
)
def test_a_correction_is_said_outright(server, extractor, consolidator, said, is_correction):
    """What is not true is no correction."""
    server.script = [tool("record_facts", {"facts": [{**BEES, "correction": said}]})]
    assert extractor.extract(REQUEST).facts[0].is_correction is is_correction
    decision = {"fact": 1, "action": "UPDATE", "memories": [1], "text": "x", "correction": said}
    server.script = [tool("consolidate", {"decisions": [decision]})]
    assert consolidator.consolidate(DOUBTFUL).decisions[0].is_correction is is_correction
