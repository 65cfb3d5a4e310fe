"""Which format a message is of."""

import pytest

from streambank_client import formats
from streambank_client.formats import ToolNames, detect

P = "ai.koog.prompt.message."


@pytest.mark.parametrize(
    ("message", "tag"),
    [
        ({"role": "user", "content": [{"text": "x"}]}, "strands"),
        ({"role": "assistant", "content": []}, "strands"),
        ({"role": "user", "content": "x"}, "openai"),
        ({"role": "user", "content": [{"type": "text", "text": "x"}]}, "openai"),
        ({"role": "assistant", "content": None, "tool_calls": []}, "openai"),
        ({"role": "tool", "content": "x"}, "openai"),
        ({"role": "developer", "content": "x"}, "openai"),
        ({"type": "human", "data": {"content": "x"}}, "langchain"),
        ({"type": "AIMessageChunk", "data": {}}, "langchain"),
        ({"role": "user", "parts": [{"text": "x"}]}, "google"),
        ({"parts": []}, "google"),
        ({"type": f"{P}Message.Tool.Call", "parts": []}, "koog-0.8"),
        ({"type": f"{P}Message.Reasoning", "parts": []}, "koog-0.8"),
        ({"type": f"{P}Message.User", "parts": [{"text": "x"}]}, "koog-0.8"),
        ({"type": f"{P}Message.User", "parts": [{"type": "text", "text": "x"}]}, "koog-0.8"),
        ({"type": f"{P}Message.User", "parts": [{"type": f"{P}MessagePart.Text", "text": "x"}]}, "koog-1"),
        ({"type": f"{P}Message.System", "parts": [{"text": "x"}]}, "koog-1"),
        ({"type": "something", "text": "x"}, None),
        ({"role": "narrator", "content": "x"}, None),
        ({"role": [], "content": "x"}, None),
        ({}, None),
        ("x", None),
        (None, None),
    ],
)
def test_formats_are_told_by_their_shape(message, tag):
    """Each format has a mark of its own; what has none is none of them."""
    assert detect(message) == tag


def test_the_table_has_both_directions_of_every_format():
    """Whatever `detect` answers can be converted, there and back."""
    for converter in formats.FORMATS.values():
        assert converter.to_contents([]) == formats.Conversion(())
        assert converter.from_contents([]) == formats.Restored(())
    assert set(formats.FORMATS) == {"strands", "koog-0.8", "koog-1", "openai", "langchain", "google"}


def test_tool_names_are_bounded():
    """Only the newest calls are remembered, by id and in order alike; a call that is made again stays."""
    names = ToolNames(limit=2)
    for call_id, name in (("a", "f"), ("b", "g"), ("a", "f"), ("c", "h"), (None, "x"), (None, "y"), (None, "z")):
        names.add_call(call_id, name)
    assert [names.pop_name(call_id) for call_id in ("a", "b", "c")] == ["f", "", "h"]
    assert [names.pop_name(None) for _ in range(3)] == ["y", "z", ""]
    with pytest.raises(ValueError, match="limit"):
        ToolNames(limit=0)
