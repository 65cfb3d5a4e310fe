"""Which parts of an event a model reads."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank.model.event import Event, StoredEvent
from streambank.rules.prompted_parts import MAX_TOOL_CHARACTERS, PartKind, is_prompted, part_kind, prompt_turns
from tests.rules.building import NOW

CALL = {"functionCall": {"id": "1", "name": "weather", "args": {"city": "Graz"}}}
RESULT = {"function_response": {"id": "1", "name": "weather", "response": {"output": "sunny"}}}


def event(*parts, role="user"):
    return StoredEvent(Event(role, parts), 1, NOW)


def turns(*parts, role="user", include_tool_traffic=True):
    return prompt_turns(event(*parts, role=role), include_tool_traffic=include_tool_traffic)


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        ({"text": "a"}, PartKind.TEXT),
        ({"text": ""}, PartKind.OTHER),
        ({"text": "a", "thought": True}, PartKind.OTHER),
        ({**CALL, "thought": True}, PartKind.OTHER),
        (CALL, PartKind.TOOL),
        (RESULT, PartKind.TOOL),
        ({"functionCall": 5}, PartKind.OTHER),
        ({"inlineData": {}}, PartKind.OTHER),
        ({}, PartKind.OTHER),
    ],
)
def test_a_part_is_words_tool_traffic_or_neither(part, kind):
    """Words are always read, tool traffic where it is included, anything else never."""
    assert part_kind(part) is kind
    assert is_prompted(part, include_tool_traffic=True) == (kind is not PartKind.OTHER)
    assert is_prompted(part, include_tool_traffic=False) == (kind is PartKind.TEXT)


def test_tool_traffic_is_a_turn_of_its_own():
    """Words keep their role; calls and results have the role of a tool, with name, arguments and output as JSON."""
    assert turns({"text": "Let me look."}, CALL, role="model") == [
        ("model", "Let me look."),
        ("tool", 'call weather {"city": "Graz"}'),
    ]
    assert turns(RESULT) == [("tool", 'result weather {"output": "sunny"}')]
    assert turns(RESULT, include_tool_traffic=False) == []


def test_long_output_is_cut():
    """Each call and each result has a limit of its own."""
    long = {"functionResponse": {"name": "f", "response": {"output": "x" * 9_000}}}
    [(_, text)] = turns(long, CALL)
    first, second = text.split("\n")
    assert len(first) == MAX_TOOL_CHARACTERS
    assert second.startswith("call weather")


def test_recalled_memories_in_a_result_are_not_read():
    """A tool that returns memories in their block does not make them memories again."""
    block = "<streambank-memory>I live in Graz.</streambank-memory>"
    assert turns({"functionResponse": {"name": "f", "response": {"output": block}}}) == [
        ("tool", 'result f {"output": "\n"}')
    ]


values = st.recursive(
    st.none() | st.text(max_size=5), lambda inner: st.dictionaries(st.text(max_size=3), inner, max_size=2), max_leaves=5
)
parts = st.dictionaries(
    st.sampled_from(["text", "thought", "functionCall", "function_call", "functionResponse", "inlineData"]), values
).filter(lambda part: isinstance(part.get("text", ""), str))


@given(st.lists(parts, max_size=4), st.booleans())
def test_an_event_has_a_turn_only_for_parts_that_are_read(given_parts, is_included):
    """Without tool traffic no turn has the role of a tool; what no part is read of has no turn."""
    found = turns(*json.loads(json.dumps(given_parts)), include_tool_traffic=is_included)
    assert all(text.strip() for _, text in found)
    if not is_included:
        assert "tool" not in {role for role, _ in found}
    if not any(is_prompted(part, include_tool_traffic=is_included) for part in given_parts):
        assert found == []
