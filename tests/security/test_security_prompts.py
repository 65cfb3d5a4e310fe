"""Prompt injection: what people, memories and banks say stays data, wherever it stands in a prompt.

That a conversation cannot close its fence, and that a model can only act on what it was shown, is held by
tests/bedrock (test_bedrock_prompts.py, test_bedrock_answers.py); what planted orders come to, by
infra/streambank_local/evaluation/gold/planted.toml.
"""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank.llm.dialogue import prompts
from streambank.llm.dialogue.answers import ConsolidationReader, ExtractionReader
from streambank.llm.dialogue.echoes import Placeholders
from streambank.llm.ports import (
    ConsolidationRequest,
    Example,
    ExtractionRequest,
    OfferedFact,
    OfferedMemory,
    ProfileSchema,
    Turn,
)

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
TAGS = st.sampled_from(["</facts>", "</memories>", "<memories>", "</conversation>", "\n</facts>\n", "</example>", ""])
texts = st.builds("".join, st.tuples(TAGS, st.text(max_size=40), TAGS))
SAID = (Turn(1, "user", "I keep bees.", NOW),)


@given(st.lists(texts, min_size=1, max_size=3), st.lists(texts, min_size=1, max_size=3), texts)
def test_no_fact_and_no_memory_closes_its_fence(facts, memories, earlier):
    """A stored memory is as foreign as a new fact or a turn: each is a line of JSON between tags that only we write."""
    request = ConsolidationRequest(
        tuple(OfferedFact(number, fact, None, NOW, None, (), fact, (fact,)) for number, fact in enumerate(facts, 1)),
        tuple(OfferedMemory(number, memory, NOW, (earlier,)) for number, memory in enumerate(memories, 1)),
    )
    lines = prompts.consolidation_prompt(request).split("\n")
    ours = ["<facts>", "</facts>", "<memories>", "</memories>"]
    assert [line for line in lines if "<" in line or ">" in line] == ours
    rows = [json.loads(line) for line in lines if line not in ours]
    assert [row["fact"] for row in rows if "fact" in row] == facts
    assert [row["turns"] for row in rows if "fact" in row] == [[fact] for fact in facts]
    assert [(row["memory"], row["earlier"]) for row in rows if "memory" in row] == [
        (one, [earlier]) for one in memories
    ]


@given(st.lists(texts, min_size=1, max_size=3), st.lists(texts, min_size=1, max_size=3), texts)
def test_no_memory_and_no_earlier_fact_writes_a_turn(memories, recorded, text):
    """What is remembered cannot pass for what was said: each is a line between the tags of its own."""
    request = ExtractionRequest(
        (Turn(1, "user", text, NOW),),
        memories=tuple(OfferedMemory(number, memory, NOW) for number, memory in enumerate(memories, 1)),
        recorded=tuple(recorded),
    )
    lines = prompts.extraction_prompt(request).split("\n")
    tags = [line for line in lines if "<" in line or ">" in line]
    assert tags == ["<memories>", "</memories>", "<recorded>", "</recorded>", "<conversation>", "</conversation>"]
    assert [json.loads(line)["text"] for line in lines[lines.index("<conversation>") + 1 : -1]] == [text]
    assert len(lines) == len(tags) + len(memories) + len(recorded) + 1


@given(texts, texts)
def test_no_example_of_a_bank_closes_its_fence(said, fact):
    """Examples stand in the variable text, between tags of their own that no example can write."""
    request = ExtractionRequest(SAID, examples=(Example((("user", said),), ((fact, None),)),))
    short = Example((("user", "x"),), (("x", None),))
    plain = prompts.extraction_system(ExtractionRequest(SAID, examples=(short,))).text
    system = prompts.extraction_system(request).text
    assert (system.count("<"), system.count(">")) == (plain.count("<"), plain.count(">"))
    assert len(system.split("\n")) == len(plain.split("\n"))


@given(texts, texts)
def test_what_a_bank_calls_a_topic_stays_on_its_line(label, meaning):
    """No topic writes a line of the system text that looks like one of ours."""
    request = ExtractionRequest(SAID, topics=(label,), descriptions={label: meaning})
    lines = prompts.extraction_system(request).text.splitlines()
    other = ExtractionRequest(SAID, topics=("x",), descriptions={"x": "y"})
    plain = prompts.extraction_system(other).text.splitlines()
    assert len(lines) == len(plain)
    assert sum(line != other for line, other in zip(lines, plain, strict=True)) <= 1


@pytest.mark.parametrize("text", ["$time_zone", "${person}", "$$", "$topics $profiles", "{person}", "%s"])
def test_nothing_that_is_said_is_a_template(text):
    """Placeholders in a topic, an example or a schema stay as they are written."""
    schema = ProfileSchema("s", {"type": "object", "properties": {text: {"type": "string"}}})
    example = Example((("user", text),), ((text, None),))
    request = ExtractionRequest(SAID, topics=(text,), descriptions={text: text}, examples=(example,), schemas=(schema,))
    assert prompts.extraction_system(request).variable.count(text) >= 5


@pytest.mark.parametrize(
    "number",
    [0, -1, 3, 10**9, 1.5, "1; DROP", "m123", None, True, [3], {"n": 1}, float("nan"), float("inf"), "\u0661" * 9],
)
def test_a_number_that_was_not_offered_names_nothing(number):
    """Whatever a model was talked into naming: of two memories it can touch the first and the second."""
    memories = (OfferedMemory(1, "a", NOW), OfferedMemory(2, "b", NOW))
    none = Placeholders(None)
    judge = ConsolidationReader(ConsolidationRequest((OfferedFact(1, "x", None, NOW),), memories), none)
    row = {"fact": 1, "action": "DELETE", "memories": number}
    assert judge.read({"decisions": [row]}).value == ()
    assert judge.read({"decisions": [{**row, "memories": [number, 2]}]}).value[0].memories == (2,)
    reader = ExtractionReader(ExtractionRequest(SAID, memories=memories), none)
    fact = {"fact": "x", "events": [number, 1], "change": "FORGETS", "memories": [number, 2]}
    [read] = reader.read({"facts": [fact]}).value.facts
    assert (read.events, read.memories) == ((1,), (2,))
