"""Prompt injection: what people, memories and banks say stays data, wherever it stands in a prompt.

That a conversation cannot close its fence, and that a model can only act on what it was shown, is held by
tests/bedrock/test_bedrock_models.py; what planted orders come to, by tests/gold/cases/planted.toml.
"""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank.llm.bedrock import prompts, tool_output
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
    """A stored memory is as foreign as a new fact: both are one line of JSON between tags that only we write."""
    request = ConsolidationRequest(
        tuple(OfferedFact(number, fact, None, NOW) for number, fact in enumerate(facts, 1)),
        tuple(OfferedMemory(number, memory, NOW, (earlier,)) for number, memory in enumerate(memories, 1)),
    )
    lines = prompts.consolidation_prompt(request).split("\n")
    ours = ["<facts>", "</facts>", "<memories>", "</memories>"]
    assert [line for line in lines if "<" in line or ">" in line] == ours
    rows = [json.loads(line) for line in lines if line not in ours]
    assert [row["fact"] for row in rows if "fact" in row] == facts
    assert [(row["memory"], row["earlier"]) for row in rows if "memory" in row] == [
        (one, [earlier]) for one in memories
    ]


@given(texts, texts)
def test_no_example_of_a_bank_closes_its_fence(said, fact):
    """Examples stand in the system text, between tags of their own that no example can write."""
    request = ExtractionRequest(SAID, examples=(Example((("user", said),), ((fact, None),)),))
    plain = prompts.extraction_system(ExtractionRequest(SAID, examples=(Example((("user", "x"),), (("x", None),)),)))
    system = prompts.extraction_system(request)
    assert (system.count("<"), system.count(">")) == (plain.count("<"), plain.count(">"))
    assert len(system.split("\n")) == len(plain.split("\n"))


@given(texts, texts)
def test_what_a_bank_calls_a_topic_stays_on_its_line(label, meaning):
    """No topic writes a line of the system text that looks like one of ours."""
    request = ExtractionRequest(SAID, topics=(label,), descriptions={label: meaning})
    lines = prompts.extraction_system(request).splitlines()
    plain = prompts.extraction_system(ExtractionRequest(SAID, topics=("x",), descriptions={"x": "y"})).splitlines()
    assert len(lines) == len(plain)
    assert sum(line != other for line, other in zip(lines, plain, strict=True)) <= 1


@pytest.mark.parametrize("text", ["$time_zone", "${person}", "$$", "$topics $profiles", "{person}", "%s"])
def test_nothing_that_is_said_is_a_template(text):
    """Placeholders in a topic, an example or a schema stay as they are written."""
    schema = ProfileSchema("s", {"type": "object", "properties": {text: {"type": "string"}}})
    example = Example((("user", text),), ((text, None),))
    request = ExtractionRequest(SAID, topics=(text,), descriptions={text: text}, examples=(example,), schemas=(schema,))
    assert prompts.extraction_system(request).count(text) >= 5


@pytest.mark.parametrize(
    "number",
    [0, -1, 3, 10**9, 1.5, "1; DROP", "m123", None, True, [1], {"n": 1}, float("nan"), float("inf"), "\u0661" * 9],
)
def test_a_number_that_was_not_offered_names_nothing(number):
    """Whatever a model was talked into naming: of two memories it can touch the first and the second."""
    row = {"fact": 1, "action": "DELETE", "memory": number}
    with pytest.raises(tool_output.UnusableReply):
        tool_output.parse_decisions({"decisions": [row]}, fact_count=1, memory_count=2)
    assert (
        tool_output.parse_decisions({"decisions": [{**row, "memory": 2}]}, fact_count=1, memory_count=2)[0].memory == 2
    )
