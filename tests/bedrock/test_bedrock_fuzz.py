"""Any answer at all: the adapters fail in a known way, or return what was offered."""

import json
from dataclasses import replace
from types import SimpleNamespace

from hypothesis import given, settings
from hypothesis import strategies as st

from streambank import errors
from streambank.llm.bedrock.converse import Converse
from streambank.llm.dialogue.consolidator import ModelConsolidator
from streambank.llm.dialogue.extractor import ModelExtractor
from streambank.llm.dialogue.retries import model_retry_policy
from streambank.llm.ports import ExtractedFact, ProfileSchema
from tests.bedrock.converse_server import message
from tests.bedrock.requests import DOUBTFUL, MODELS, WITH_MEMORIES

REQUEST = replace(WITH_MEMORIES, schemas=(ProfileSchema("diet", {}),))
EVENTS = {turn.number for turn in REQUEST.turns}
MEMORIES = {memory.number for memory in REQUEST.memories}
FACTS = {fact.number for fact in DOUBTFUL.facts}

# The four tests read 200 answers in the fast suite, and 8,000 in `make test-all`.
ANSWERS = settings(max_examples=50 if settings.default.max_examples < 100 else 2_000)

words = st.text() | st.sampled_from(["\ud83d", "\x00", "CITY-1", "2", "#1", "[1, 2]", "{", '{"facts": []}'])
scalars = st.none() | st.booleans() | st.integers() | st.integers(-1, 4) | st.floats() | words
values = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(words, inner), max_leaves=6)
names = st.sampled_from(["NEW", "UPDATE", "delete", "NONE", "CREATE", "FORGETS", "changes"])


def rows(*fields):
    """Rows in a tool's shape whose values are anything."""
    return st.fixed_dictionaries({}, optional=dict.fromkeys(fields, values | names))


numbers = st.lists(st.integers(-1, 4), max_size=3) | st.integers(-1, 4) | st.sampled_from(["2", "#9", "1, 7"])
good_facts = st.fixed_dictionaries({"fact": st.just("I ski") | words, "events": numbers, "memories": numbers})
good_decisions = st.fixed_dictionaries(
    {"fact": st.integers(0, 3), "action": names, "memories": numbers, "same_as": st.integers(0, 3), "text": words}
)
fact_rows = rows("fact", "events", "topic", "change", "memories", "memory", "text") | good_facts | values
profile_rows = rows("schema", "data", "events") | values
decision_rows = rows("reason", "fact", "action", "memories", "memory", "text", "same_as") | good_decisions | values
inputs = st.fixed_dictionaries(
    {},
    optional={
        "facts": st.lists(fact_rows) | values,
        "profiles": st.lists(profile_rows) | values,
        "decisions": st.lists(decision_rows) | values,
    },
)
tools = st.sampled_from(["record_facts", "consolidate", "another"])
calls = st.builds(
    lambda name, value: {"toolUse": {"toolUseId": "t", "name": name, "input": value}}, tools, inputs | words
)
broken = st.builds(
    lambda value, start, end: json.dumps(value)[start:end], inputs, st.integers(0, 3), st.integers(-3, -1)
)
texts = (words | broken | st.builds(json.dumps, inputs | values)).map(lambda text: {"text": text})
stops = st.sampled_from(["tool_use", "end_turn", "max_tokens", "content_filtered", "malformed_tool_use"])
replies = st.builds(lambda content, stop: message(content, stop)[1], st.lists(calls | texts, max_size=3), stops)
bees = st.just({"fact": "I keep bees", "events": [1]})


def scripted(*script):
    """Return a Converse whose client answers by *script*."""
    answers = iter(script)
    client = SimpleNamespace(converse=lambda **_: next(answers))
    return Converse(client, MODELS, model_retry_policy(lambda _: None, lambda: 0.0))


def is_storable(text):
    """Tell whether *text* is valid UTF-8 without null characters."""
    return b"\x00" not in text.encode()


@ANSWERS
@given(replies, replies)
def test_any_answer_is_a_known_failure_or_an_extraction(first, second):
    """What is read names offered turns and memories alone, and every text can be stored."""
    try:
        answer = ModelExtractor(scripted(first, second)).extract(REQUEST)
    except errors.GenerationError:
        return
    for fact in answer.facts:
        assert EVENTS.issuperset(fact.events)
        assert MEMORIES.issuperset(fact.memories)
        assert is_storable(f"{fact.fact}{fact.text}{fact.topic}{fact.problem}")
        assert bool(fact.fact) or bool(fact.problem)
        assert "CITY-1" not in fact.text
    for profile in answer.profiles:
        assert EVENTS.issuperset(profile.events)
        json.dumps(profile.data, ensure_ascii=False, allow_nan=False).encode()


@ANSWERS
@given(replies, replies)
def test_any_answer_is_a_known_failure_or_a_consolidation(first, second):
    """What is read names offered facts and memories alone, and every text can be stored."""
    try:
        answer = ModelConsolidator(scripted(first, second)).consolidate(DOUBTFUL)
    except errors.GenerationError:
        return
    for one in answer.decisions:
        assert one.fact in FACTS
        assert MEMORIES.issuperset(one.memories)
        assert one.memories or one.action in ("CREATE", "NONE")
        assert one.same_as is None or one.same_as in FACTS - {one.fact}
        assert is_storable(f"{one.text}{one.reason}")


@ANSWERS
@given(st.lists(fact_rows, max_size=5), st.lists(fact_rows, max_size=5))
def test_no_row_costs_its_neighbour(before, after):
    """A fact that can be used is read, whatever stands around it; each row has a fact or a reason."""
    rows_ = [*before, {"fact": "I keep bees", "events": [1]}, *after]
    _, reply = message([{"toolUse": {"toolUseId": "t", "name": "record_facts", "input": {"facts": rows_}}}], "x")
    facts = ModelExtractor(scripted(reply)).extract(REQUEST).facts
    assert len(facts) == len(rows_)
    assert facts[len(before)] == ExtractedFact("I keep bees", (1,))


@ANSWERS
@given(st.lists(decision_rows, max_size=5), st.lists(decision_rows, max_size=5))
def test_no_decision_costs_its_neighbour(before, after):
    """A decision that can be used is read, whatever stands around it."""
    rows_ = [*before, {"reason": "mine", "fact": 2, "action": "UPDATE", "memories": [1]}, *after]
    _, reply = message([{"toolUse": {"toolUseId": "t", "name": "consolidate", "input": {"decisions": rows_}}}], "x")
    decisions = ModelConsolidator(scripted(reply)).consolidate(DOUBTFUL).decisions
    assert [one.memories for one in decisions if one.reason == "mine"] == [(1,)]
