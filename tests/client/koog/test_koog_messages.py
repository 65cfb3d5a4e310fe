"""Messages of every format as memory reads them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import BaseModel

from streambank_client.koog.messages import PromptMessage, read_messages, read_reply

STAMP = {"metaInfo": {"timestamp": "2026-01-02T03:04:05Z"}}
K = "ai.koog.prompt.message."


def said(messages: list[PromptMessage]) -> list[tuple[str, str, str | None]]:
    return [(message.role, message.text, message.message_id) for message in messages]


@pytest.mark.parametrize(
    ("form", "messages", "expected"),
    [
        (
            "openai",
            [
                {"role": "developer", "content": "be brief"},
                {"role": "user", "content": [{"type": "text", "text": "hi"}], "id": "u1"},
                {"role": "assistant", "content": None, "tool_calls": [
                    {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
                {"role": "tool", "tool_call_id": "c", "content": "42"},
                {"role": "assistant", "content": "it is 42"},
            ],
            [
                ("system", "be brief", None), ("user", "hi", "u1"), ("assistant", "", None), ("tool", "42", None),
                ("assistant", "it is 42", None),
            ],
        ),
        (
            "strands",
            [
                {"role": "user", "content": [{"text": "hi"}]},
                {"role": "assistant", "content": [
                    {"reasoningContent": {"reasoningText": {"text": "hm"}}}, {"text": "ho"}]},
                {"role": "user", "content": [{"toolResult": {"toolUseId": "t", "content": [{"text": "42"}]}}]},
            ],
            [("user", "hi", None), ("assistant", "ho", None), ("user", "", None)],
        ),
        (
            "langchain",
            [
                {"type": "system", "data": {"content": "be brief"}},
                {"type": "human", "data": {"content": "hi", "id": "h1"}},
                {"type": "ai", "data": {"content": "ho", "id": "a1"}},
                {"type": "tool", "data": {"content": "42", "tool_call_id": "c"}},
            ],
            [("system", "be brief", None), ("user", "hi", "h1"), ("assistant", "ho", "a1"), ("tool", "42", None)],
        ),
        (
            "google",
            [{"role": "user", "parts": [{"text": "hi"}]}, {"role": "model", "parts": [{"text": "ho"}]}],
            [("user", "hi", None), ("assistant", "ho", None)],
        ),
        (
            "koog-0.8",
            [
                {"type": f"{K}Message.System", "parts": [{"text": "be brief"}]},
                {"type": f"{K}Message.User", "parts": [{"text": "hi"}], **STAMP},
                {"type": f"{K}Message.Tool.Call", "id": "c", "tool": "f", "parts": [{"text": "{}"}]},
                {"type": f"{K}Message.Tool.Result", "id": "c", "tool": "f", "parts": [{"text": "42"}]},
                {"type": f"{K}Message.Assistant", "parts": [{"text": "ho"}]},
            ],
            [
                ("system", "be brief", None), ("user", "hi", None), ("assistant", "", None), ("tool", "42", None),
                ("assistant", "ho", None),
            ],
        ),
        (
            "koog-1",
            [
                {"type": f"{K}Message.User", "parts": [{"type": f"{K}MessagePart.Text", "text": "hi"}]},
                {"type": f"{K}Message.User", "parts": [
                    {"type": f"{K}MessagePart.Tool.Result", "id": "c", "tool": "f", "parts": []}]},
                {"type": f"{K}Message.Assistant", "parts": [{"type": f"{K}MessagePart.Text", "text": "ho"}]},
            ],
            [("user", "hi", None), ("user", "", None), ("assistant", "ho", None)],
        ),
    ],
)  # fmt: skip
def test_who_said_what(form: Any, messages: list[Any], expected: list[Any]) -> None:
    """Each message of each format is read, in order, with its role, its text and the id that it has itself."""
    assert said(read_messages(messages, form)) == expected
    assert [message.raw for message in read_messages(messages, form)] == messages


def test_time_is_the_message_s_own() -> None:
    """Koog's timestamp is the message's time, others have none."""
    koog = {"type": f"{K}Message.User", "parts": [{"text": "hi"}], **STAMP}
    assert read_messages([koog], "koog-0.8")[0].time == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert read_messages([{"role": "user", "content": "hi"}], "openai")[0].time is None


class Spoken(BaseModel):
    """What OpenAI's client puts into a list of messages, or LangChain's human message."""

    content: str = "hi"
    role: str | None = None
    type: str | None = None
    id: str | None = None


@pytest.mark.parametrize(
    ("form", "message", "expected"),
    [
        ("openai", Spoken(role="assistant"), ("assistant", "hi", None)),
        ("langchain", Spoken(type="human", id="h1"), ("user", "hi", "h1")),
        ("langchain", Spoken(type="AIMessageChunk", id="a1"), ("assistant", "hi", "a1")),
    ],
)
def test_objects_of_frameworks_are_read(form: Any, message: Any, expected: Any) -> None:
    """Objects that pydantic can write as dicts are read as these, and stay what they are for the model."""
    found = read_messages([message], form)
    assert said(found) == [expected]
    assert found[0].raw is message


@pytest.mark.parametrize("messages", [["hi"], [{"role": "user", "content": 5}], [None]])
def test_what_is_no_message_is_refused(messages: list[Any]) -> None:
    """A message of another shape is a ValueError which names it."""
    with pytest.raises(ValueError, match="0"):
        read_messages(messages, "openai")


def test_no_reply_is_nothing() -> None:
    """A function that answers None has said nothing."""
    assert read_reply(None, "openai") == []
