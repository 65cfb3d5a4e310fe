"""Which format a message is of."""

from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streambank_client import formats
from streambank_client.formats import ToolNames, detect
from tests.client.formats.shapes import SHAPES

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
        ({"role": "user", "content": [{"type": "input_text", "text": "x"}]}, "openai-responses"),
        ({"type": "message", "role": "user", "content": "x"}, "openai-responses"),
        ({"type": "message", "id": "msg_1", "role": "assistant", "content": []}, "openai-responses"),
        ({"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}, "openai-responses"),
        ({"type": "function_call_output", "call_id": "c", "output": "x"}, "openai-responses"),
        ({"type": "reasoning", "id": "rs_1", "summary": []}, "openai-responses"),
        ({"type": "web_search_call", "id": "ws_1"}, "openai-responses"),
        ({"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "x"}]}, "pydantic-ai"),
        ({"kind": "response", "parts": []}, "pydantic-ai"),
        ({"eventId": "1", "payload": []}, "agentcore"),
        ({"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["x"]}}, "chatgpt"),
        ({"uuid": "1", "sender": "human", "text": "x"}, "claude"),
        ({"from": "human", "value": "x"}, "sharegpt"),
        ({"type": "message", "user": "U1", "text": "x", "ts": "1.2"}, "slack"),
        ("[12.03.23, 10:15:02] Ana: x", "whatsapp"),
        ("12/03/23, 10:15 - Ana: x", "whatsapp"),
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
    """Whatever `detect` answers can be converted; formats of frameworks there and back, of exports one way."""
    for tag, converter in formats.FORMATS.items():
        assert converter.to_contents([]) == formats.Conversion(())
        if converter.from_contents:
            assert formats.from_contents([], tag) == formats.Restored(())
        else:
            with pytest.raises(ValueError, match=r"^form: Contents are not converted to"):
                formats.from_contents([], tag)
    exports = {tag for tag, converter in formats.FORMATS.items() if not converter.from_contents}
    assert exports == {"agentcore", "chatgpt", "claude", "sharegpt", "slack", "whatsapp"}
    assert set(formats.FORMATS) == set(get_args(formats.Format))


def test_tool_names_are_bounded():
    """Only the newest calls are remembered, by id and in order alike; a call that is made again stays."""
    names = ToolNames(limit=2)
    for call_id, name in (("a", "f"), ("b", "g"), ("a", "f"), ("c", "h"), (None, "x"), (None, "y"), (None, "z")):
        names.add_call(call_id, name)
    assert [names.pop_name(call_id) for call_id in ("a", "b", "c")] == ["f", "", "h"]
    assert [names.pop_name(None) for _ in range(3)] == ["y", "z", ""]
    with pytest.raises(ValueError, match="limit"):
        ToolNames(limit=0)


# Messages of words alone or of nothing are alike, and so are Koog's system messages.
SIMILAR = {"openai": {"strands"}, "openai-responses": {"openai", "strands"}, "koog-0.8": {"koog-1"}}


@pytest.mark.slow
@pytest.mark.parametrize("tag", sorted(SHAPES))
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_message_of_a_format_is_of_no_other(tag, data):
    """Whatever a format's messages hold, their shape names the format, or nothing where the role is unknown."""
    message = data.draw(SHAPES[tag])
    assert detect(message) in {tag, *SIMILAR.get(tag, ()), *([None] if message == [] or "role" in message else [])}
