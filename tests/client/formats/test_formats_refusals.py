"""What raises: a field of a wrong type, named by message and field and without a word of what was said."""

import pytest

from streambank_client import formats

P = "ai.koog.prompt.message."


@pytest.mark.parametrize(
    ("tag", "message", "problem"),
    [
        ("strands", "hi", "messages[1]: must be an object, not str"),
        ("strands", {"role": 3}, "messages[1].role: must be a string, not int"),
        ("strands", {"role": "user", "content": "secret"}, "messages[1].content: must be a list, not str"),
        ("strands", {"role": "user", "content": ["secret"]}, "messages[1].content[0]: must be an object, not str"),
        (
            "strands",
            {"role": "user", "content": [{"text": 1}]},
            "messages[1].content[0].text: must be a string, not int",
        ),
        (
            "strands",
            {"role": "user", "content": [{"toolUse": {"name": []}}]},
            "messages[1].content[0].toolUse.name: must be a string, not list",
        ),
        (
            "strands",
            {"role": "user", "content": [{"toolResult": {"content": [{"text": b"secret"}]}}]},
            "messages[1].content[0].toolResult.content[0].text: must be a string, not bytes",
        ),
        (
            "koog-1",
            {"type": f"{P}Message.User", "parts": [{"text": 1}]},
            "messages[1].parts[0].text: must be a string, not int",
        ),
        (
            "koog-1",
            {"type": f"{P}Message.Assistant", "parts": [{"type": f"{P}MessagePart.Reasoning", "content": [1]}]},
            "messages[1].parts[0].content: must be a list of strings, not list",
        ),
        (
            "koog-0.8",
            {"type": f"{P}Message.User", "metaInfo": {"timestamp": 5}},
            "messages[1].metaInfo.timestamp: must be a string, not int",
        ),
        ("openai", {"role": "user", "content": 5}, "messages[1].content: must be a string or a list, not int"),
        (
            "openai",
            {"role": "assistant", "tool_calls": [{"function": {"arguments": {}}}]},
            "messages[1].tool_calls[0].function.arguments: must be a string, not dict",
        ),
        (
            "langchain",
            {"type": "human", "data": {"content": {}}},
            "messages[1].data.content: must be a string or a list, not dict",
        ),
        (
            "google",
            {"parts": [{"function_call": {"args": [1]}}]},
            "messages[1].parts[0].functionCall.args: must be an object, not list",
        ),
        ("google", {"parts": [{"thought": "yes"}]}, "messages[1].parts[0].thought: must be true or false, not str"),
        (
            "openai-responses",
            {"type": "message", "role": "user", "content": 5},
            "messages[1].content: must be a string or a list, not int",
        ),
        (
            "pydantic-ai",
            {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": 5}]},
            "messages[1].parts[0].content: must be a string or a list, not int",
        ),
        ("chatgpt", {"author": []}, "messages[1].author: must be an object, not list"),
        ("slack", {"type": "message", "ts": 5}, "messages[1].ts: must be a string, not int"),
        ("agentcore", {"payload": [5]}, "messages[1].payload[0]: must be an object, not int"),
        (
            "google",
            {"parts": [{"inlineData": {"data": 5}}]},
            "messages[1].parts[0].inlineData.data: must be base64 or bytes, not int",
        ),
    ],
)
def test_wrong_types_are_refused_by_path(tag, message, problem):
    """The error names the message by its index and the field by its path, and quotes nothing."""
    with pytest.raises(ValueError) as refused:
        formats.to_contents([{"role": "user", "type": f"{P}Message.User"}, message], tag)
    assert str(refused.value) == problem


@pytest.mark.parametrize("tag", sorted(tag for tag, one in formats.FORMATS.items() if one.from_contents))
def test_contents_of_a_wrong_type_are_refused_by_path(tag):
    """The way back names the Content and the field."""
    with pytest.raises(ValueError, match=r"^contents\[0\].parts\[0\].text: must be a string, not int$"):
        formats.from_contents([{"role": "user", "parts": [{"text": 5}]}], tag)
