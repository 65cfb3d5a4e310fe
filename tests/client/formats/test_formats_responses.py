"""Items of OpenAI's Responses, row by row."""

import pytest

from streambank_client import formats
from tests.client.formats.checks import THINKING, assert_round_trip, losses, parts, restore_losses

TAG = "openai-responses"


def message(role, *blocks, **fields):
    return {"type": "message", "role": role, "content": list(blocks), **fields}


def text(words, kind="input_text"):
    return {"type": kind, "text": words}


def test_a_conversation_of_the_agents_sdk():
    """Items as a session stores them: an easy message, reasoning, a call, its output, an answer."""
    items = [
        {"role": "user", "content": "weather?"},
        {"id": "rs_1", "type": "reasoning", "summary": [text("hm", "summary_text")]},
        {
            "id": "fc_1",
            "type": "function_call",
            "call_id": "c1",
            "name": "weather",
            "arguments": '{"city":"Graz"}',
            "status": "completed",
        },
        {"type": "function_call_output", "call_id": "c1", "output": "sunny"},
        message("assistant", {**text("Sunny.", "output_text"), "annotations": []}, id="msg_1", status="completed"),
    ]
    conversion = formats.to_contents(items, TAG)
    assert [(one.content, one.index, one.message_id) for one in conversion.contents] == [
        ({"role": "user", "parts": [{"text": "weather?"}]}, 0, None),
        (
            {"role": "model", "parts": [{"functionCall": {"id": "c1", "name": "weather", "args": {"city": "Graz"}}}]},
            2,
            "fc_1",
        ),
        (
            {
                "role": "user",
                "parts": [{"functionResponse": {"id": "c1", "name": "weather", "response": {"output": "sunny"}}}],
            },
            3,
            None,
        ),
        ({"role": "model", "parts": [{"text": "Sunny."}]}, 4, "msg_1"),
    ]
    assert losses(items, TAG) == [(1, None, "reasoning", "reasoning"), (1, None, "message", "empty")]


@pytest.mark.parametrize("item_id", ["__fake_id__", "c1", "", None])
def test_an_id_that_is_shared_is_no_id(item_id):
    """The SDK gives one id to all items of other models; an id that is the call's belongs to call and output."""
    item = {"type": "function_call", "id": item_id, "call_id": "c1", "name": "f", "arguments": "{}"}
    [content] = formats.to_contents([item], TAG).contents
    assert content.message_id is None


def test_items_of_other_tools_are_reported():
    """A search on the web has no text of the conversation."""
    items = [{"type": "web_search_call", "id": "ws_1"}, {"type": "item_reference", "id": "msg_1"}]
    assert losses(items, TAG) == [(0, None, "web_search_call", "unknown"), (1, None, "item_reference", "unknown")]


def test_blocks_of_media():
    """Images and files have an address or content; a file's id alone is neither."""
    blocks = [
        {"type": "input_image", "image_url": "https://a.example/b.png"},
        {"type": "input_file", "file_data": "data:application/pdf;base64,AAAA", "filename": "a.pdf"},
        {"type": "input_file", "file_id": "file-1"},
    ]
    assert parts(message("user", *blocks), TAG) == [
        {"fileData": {"mimeType": "image/png", "fileUri": "https://a.example/b.png"}},
        {"inlineData": {"mimeType": "application/pdf", "data": "AAAA", "displayName": "a.pdf"}},
    ]
    assert losses([message("user", *blocks)], TAG) == [(0, 2, "input_file", "no_address")]


def test_round_trip():
    """Items come back as they were, with ids and reasoning."""
    assert_round_trip(
        [
            message("user", text("a"), {"type": "input_image", "image_url": "https://a.example/b.png"}),
            {"type": "reasoning", "id": "rs_1", "summary": [text("hm", "summary_text")], "encrypted_content": "x"},
            {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": "ok"},
            message("assistant", text("b", "output_text"), id="msg_1"),
        ],
        TAG,
    )


def test_a_custom_tool_is_rewritten():
    """Its input is text and no JSON."""
    call = {"type": "custom_tool_call", "call_id": "c", "name": "f", "input": "plain"}
    assert parts(call, TAG) == [{"functionCall": {"id": "c", "name": "f", "args": {"_raw": "plain"}}}]
    assert losses([call], TAG) == [(0, None, "custom_tool_call", "rewritten")]


def test_a_content_of_several_kinds_becomes_several_items():
    """Text and calls are items of their own, and the way back says that it is not exact."""
    content = {"role": "model", "parts": [{"text": "a"}, {"functionCall": {"id": "c", "name": "f", "args": {}}}]}
    restored = formats.from_contents([content], TAG)
    assert [item["type"] for item in restored.messages] == ["message", "function_call"]
    assert restore_losses([content], TAG) == [(0, None, "message", "rewritten")]


def test_reasoning_is_a_thought_where_it_is_included():
    """Summaries are joined."""
    item = {"type": "reasoning", "summary": [text("a", "summary_text"), text("b", "summary_text")]}
    assert parts(item, TAG, THINKING) == [{"text": "a\nb", "thought": True}]
