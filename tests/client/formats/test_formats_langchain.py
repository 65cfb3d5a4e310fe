"""LangChain's messages, row by row, as `message_to_dict` writes them."""

import pytest

from streambank_client import formats
from tests.client.formats.checks import THINKING, assert_round_trip, losses, parts, restore_losses


def message(kind, content, **data):
    return {"type": kind, "data": {"content": content, **data}}


def whole(kind, content, **data):
    """Return a message with all the fields that LangChain writes, most of which hold nothing."""
    empty = {"additional_kwargs": {}, "response_metadata": {}, "type": kind, "name": None, "id": None}
    return message(kind, content, **{**empty, **data})


def test_a_conversation_with_a_tool():
    """Humans are users, AIs models, tools answer as the user's; ids are kept, empty fields are not reported."""
    call = {"name": "f", "args": {"a": 1}, "id": "x", "type": "tool_call"}
    messages = [
        whole("system", "be kind"),
        whole("human", "hi", id="h1"),
        whole(
            "ai",
            [{"type": "text", "text": "a"}, "b"],
            id="run-1",
            tool_calls=[call],
            invalid_tool_calls=[],
            usage_metadata=None,
        ),
        whole("tool", "r", tool_call_id="x", name="f", artifact=None, status="success"),
    ]
    conversion = formats.to_contents(messages, "langchain")
    assert [(one.message_id, one.content) for one in conversion.contents] == [
        ("h1", {"role": "user", "parts": [{"text": "hi"}]}),
        (
            "run-1",
            {
                "role": "model",
                "parts": [{"text": "a"}, {"text": "b"}, {"functionCall": {"id": "x", "name": "f", "args": {"a": 1}}}],
            },
        ),
        (
            None,
            {"role": "user", "parts": [{"functionResponse": {"id": "x", "name": "f", "response": {"output": "r"}}}]},
        ),
    ]
    assert losses(messages, "langchain") == [(0, None, "system", "system")]


def test_a_failed_tool():
    """The status of a tool's message says that it is an error; its name is found by the call's id."""
    call = {"name": "f", "args": {}, "id": "x", "type": "tool_call"}
    messages = [message("ai", "", tool_calls=[call]), message("tool", "boom", tool_call_id="x", status="error")]
    found = formats.to_contents(messages, "langchain").contents[1].content["parts"]
    assert found == [{"functionResponse": {"id": "x", "name": "f", "response": {"error": "boom"}}}]


def test_an_invalid_call_is_kept_raw():
    """A call that LangChain could not parse keeps its text under `_raw`, and why is reported to have no place."""
    invalid = {"name": "f", "args": "{oops", "id": "x", "error": "bad", "type": "invalid_tool_call"}
    found = message("ai", "", invalid_tool_calls=[invalid])
    assert parts(found, "langchain") == [{"functionCall": {"id": "x", "name": "f", "args": {"_raw": "{oops"}}}]
    assert losses([found], "langchain") == [
        (0, 0, "tool_calls.error", "no_place"),
        (0, 0, "tool_calls", "rewritten"),
    ]


def test_a_call_that_stands_in_the_content_too_is_kept_once():
    """Anthropic's tool_use block beside the same tool call is reported as repeated; alone it is a call."""
    block = {"type": "tool_use", "id": "x", "name": "f", "input": {"a": 1}}
    call = {"name": "f", "args": {"a": 1}, "id": "x", "type": "tool_call"}
    part = {"functionCall": {"id": "x", "name": "f", "args": {"a": 1}}}
    assert parts(message("ai", [block], tool_calls=[call]), "langchain") == [part]
    assert losses([message("ai", [block], tool_calls=[call])], "langchain") == [(0, 0, "tool_use", "repeated")]
    assert parts(message("ai", [block]), "langchain") == [part]


IMAGE = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}


@pytest.mark.parametrize(
    ("block", "part"),
    [
        ({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}, IMAGE),
        ({"type": "image_url", "image_url": "data:image/png;base64,AAAA"}, IMAGE),
        ({"type": "image", "base64": "AAAA", "mime_type": "image/png"}, IMAGE),
        ({"type": "image", "source_type": "base64", "data": "AAAA", "mime_type": "image/png"}, IMAGE),
        ({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}, IMAGE),
        ({"type": "image", "url": "data:image/png;base64,AAAA"}, IMAGE),
        (
            {"type": "image", "url": "https://a.example/b.gif"},
            {"fileData": {"mimeType": "image/gif", "fileUri": "https://a.example/b.gif"}},
        ),
        (
            {"type": "file", "base64": "AAAA", "mime_type": "application/pdf"},
            {"inlineData": {"mimeType": "application/pdf", "data": "AAAA"}},
        ),
        (
            {"type": "text-plain", "text": "abc", "mime_type": "text/plain"},
            {"inlineData": {"mimeType": "text/plain", "data": "YWJj"}},
        ),
        (
            {"type": "video", "url": "gs://b/k", "mime_type": "video/mp4"},
            {"fileData": {"mimeType": "video/mp4", "fileUri": "gs://b/k"}},
        ),
    ],
)
def test_media_in_all_spellings(block, part):
    """Blocks of OpenAI, of LangChain's two versions and of Anthropic are read."""
    assert parts(message("human", [block]), "langchain") == [part]


@pytest.mark.parametrize(
    ("block", "kind", "reason"),
    [
        ({"type": "file", "file_id": "f-1"}, "file", "no_address"),
        ({"type": "image", "source_type": "id", "id": "f-1"}, "image", "no_address"),
        ({"type": "image", "source_type": "url"}, "image", "malformed"),
        ({"type": "redacted_thinking", "data": "x"}, "redacted_thinking", "reasoning"),
        ({"type": "reasoning", "reasoning": "hm"}, "reasoning", "reasoning"),
        ({"type": "non_standard", "value": {}}, "non_standard", "unsupported"),
    ],
)
def test_blocks_that_are_dropped(block, kind, reason):
    """Files by id, reasoning and unknown blocks are dropped and reported."""
    found = message("ai", ["x", block])
    assert parts(found, "langchain") == [{"text": "x"}]
    assert (0, 1, kind, reason) in losses([found], "langchain")


@pytest.mark.parametrize(
    "block",
    [
        {"type": "reasoning", "reasoning": "hm", "extras": {"signature": "s"}},
        {"type": "thinking", "thinking": "hm", "signature": "s"},
    ],
)
def test_reasoning_is_a_thought_where_it_is_wanted(block):
    """LangChain's reasoning and Anthropic's thinking are thoughts on request, signature included."""
    assert parts(message("ai", [block]), "langchain", THINKING) == [
        {"text": "hm", "thought": True, "thoughtSignature": "cw=="}
    ]


def test_streamed_chunks_are_messages():
    """A chunk is read like the message that it is a part of, and reported as such."""
    chunk = message("AIMessageChunk", "c", tool_calls=[], tool_call_chunks=[])
    assert parts(chunk, "langchain") == [{"text": "c"}]
    assert losses([chunk], "langchain") == [(0, None, "AIMessageChunk", "rewritten")]


@pytest.mark.parametrize("kind", ["function", "chat", "remove"])
def test_other_types_are_reported(kind):
    """Types of messages that are not known are reported by their name."""
    assert losses([message(kind, "x")], "langchain") == [(0, None, kind, "unknown")]


def test_messages_come_back():
    """Texts, images, files, reasoning, calls and results survive the way there and back, ids too."""
    call = {"name": "f", "args": {"a": 1}, "id": "x", "type": "tool_call"}
    assert_round_trip(
        [
            message("human", "hi", id="h1"),
            message(
                "human",
                [
                    {"type": "text", "text": "see"},
                    {"type": "image_url", "image_url": {"url": "https://a.example/b.png"}},
                    {"type": "audio", "base64": "AAAA", "mime_type": "audio/wav"},
                    {"type": "file", "url": "https://a.example/b", "mime_type": "application/pdf"},
                ],
            ),
            message(
                "ai",
                [{"type": "reasoning", "reasoning": "hm", "extras": {"signature": "s"}}, {"type": "text", "text": "a"}],
                tool_calls=[call],
                id="run-1",
            ),
            message("tool", "r", tool_call_id="x", status="error", name="f"),
            message("ai", "bye"),
        ],
        "langchain",
    )


@pytest.mark.parametrize(
    ("part", "reported"),
    [
        ({"functionCall": {"name": "f", "args": {}}}, ("functionCall", "no_id")),
        ({"functionResponse": {"id": "x", "name": "f", "response": {}}}, ("functionResponse", "unsupported")),
        ({"executableCode": {"code": "1"}}, ("executableCode", "unsupported")),
        (
            {"inlineData": {"mimeType": "image/png", "data": "AA==", "displayName": "n"}},
            ("inlineData.displayName", "no_place"),
        ),
        ({"text": "x", "thoughtSignature": "AA=="}, ("thoughtSignature", "no_place")),
    ],
)
def test_what_langchain_cannot_say_is_reported(part, reported):
    """The way back never loses in silence what a message has no block for."""
    assert (0, 0, *reported) in restore_losses([{"role": "model", "parts": [part]}], "langchain")


def test_a_result_without_an_id_is_reported():
    """A tool's message answers a call by its id."""
    part = {"functionResponse": {"name": "f", "response": {"output": "x"}}}
    found = restore_losses([{"role": "user", "parts": [part]}], "langchain")
    assert found == [(0, 0, "functionResponse", "no_id"), (0, None, "message", "empty")]
