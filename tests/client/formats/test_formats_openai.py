"""OpenAI's chat messages, row by row."""

import pytest

from streambank_client import formats
from tests.client.formats.checks import assert_round_trip, losses, parts, restore_losses


def user(*blocks):
    return {"role": "user", "content": list(blocks)}


def call(arguments, call_id="c1", name="f"):
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def test_a_conversation_with_a_tool():
    """Content null is normal beside calls; a tool's message is a functionResponse, named through its call's id."""
    messages = [
        {"role": "user", "content": "weather?"},
        {"role": "assistant", "content": None, "tool_calls": [call('{"city":"Graz"}'), call("{}", "c2", "g")]},
        {"role": "tool", "tool_call_id": "c2", "content": "two"},
        {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "one"}]},
        {"role": "assistant", "content": "sunny"},
    ]
    conversion = formats.to_contents(messages, "openai")
    assert conversion.dropped == ()
    assert [one.content for one in conversion.contents] == [
        {"role": "user", "parts": [{"text": "weather?"}]},
        {
            "role": "model",
            "parts": [
                {"functionCall": {"id": "c1", "name": "f", "args": {"city": "Graz"}}},
                {"functionCall": {"id": "c2", "name": "g", "args": {}}},
            ],
        },
        {"role": "user", "parts": [{"functionResponse": {"id": "c2", "name": "g", "response": {"output": "two"}}}]},
        {"role": "user", "parts": [{"functionResponse": {"id": "c1", "name": "f", "response": {"output": "one"}}}]},
        {"role": "model", "parts": [{"text": "sunny"}]},
    ]


def test_results_without_ids_answer_in_order():
    """Results that name no call take the names of the calls without ids in the order in which they were made."""
    calls = [call("{}", None, "f"), call("{}", None, "g")]
    messages = [
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "content": "one"},
        {"role": "tool", "content": "two"},
        {"role": "tool", "content": "three"},
    ]
    found = formats.to_contents(messages, "openai").contents[1:]
    said = [one.content["parts"][0]["functionResponse"] for one in found]
    assert [(one["name"], one["response"]["output"], "id" in one) for one in said] == [
        ("f", "one", False),
        ("g", "two", False),
        ("", "three", False),
    ]


@pytest.mark.parametrize("role", ["system", "developer"])
def test_instructions_are_no_conversation(role):
    """Instructions are dropped and reported, or kept as the user's with a prefix where that is asked for."""
    message = {"role": role, "content": "Be kind."}
    assert losses([message], "openai") == [(0, None, role, "system")]
    wanted = formats.Options(include_system=True, system_prefix="Note: ")
    (found,) = formats.to_contents([message], "openai", options=wanted).contents
    assert found.content == {"role": "user", "parts": [{"text": "Note: Be kind."}]}
    assert losses([message], "openai", wanted) == [(0, None, role, "rewritten")]


@pytest.mark.parametrize(
    ("arguments", "args"), [("{oops", {"_raw": "{oops"}), ("[1]", {"input": [1]}), ('"x"', {"input": "x"})]
)
def test_arguments_that_are_no_object(arguments, args):
    """Invalid JSON stands under `_raw`, JSON that is no object under `input`; both are reported."""
    message = {"role": "assistant", "content": None, "tool_calls": [call(arguments)]}
    assert parts(message, "openai")[0]["functionCall"]["args"] == args
    assert losses([message], "openai") == [(0, 0, "tool_calls", "rewritten")]


@pytest.mark.parametrize(
    ("block", "part"),
    [
        (
            {"type": "image_url", "image_url": {"url": "https://a.example/b.jpg?x=1"}},
            {"fileData": {"mimeType": "image/jpeg", "fileUri": "https://a.example/b.jpg?x=1"}},
        ),
        (
            {"type": "image_url", "image_url": {"url": "https://a.example/b"}},
            {"fileData": {"mimeType": "image/*", "fileUri": "https://a.example/b"}},
        ),
        (
            {"type": "image_url", "image_url": {"url": "data:image/webp;base64,AAAA"}},
            {"inlineData": {"mimeType": "image/webp", "data": "AAAA"}},
        ),
        (
            {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "mp3"}},
            {"inlineData": {"mimeType": "audio/mpeg", "data": "AAAA"}},
        ),
        (
            {"type": "file", "file": {"file_data": "data:application/pdf;base64,AAAA", "filename": "a.pdf"}},
            {"inlineData": {"mimeType": "application/pdf", "data": "AAAA", "displayName": "a.pdf"}},
        ),
    ],
)
def test_media(block, part):
    """URLs are links, data: URLs and base64 go inline, and each comes back as it was."""
    assert parts(user(block), "openai") == [part]
    assert_round_trip([user({"type": "text", "text": "see"}, block)], "openai")


@pytest.mark.parametrize(
    ("block", "part"),
    [
        (
            {"type": "image_url", "image_url": {"url": "data:text/plain,a%20b"}},
            {"inlineData": {"mimeType": "text/plain", "data": "YSBi"}},
        ),
        (
            {"type": "image_url", "image_url": {"url": "data:;base64,AA%3D%3D"}},
            {"inlineData": {"mimeType": "text/plain", "data": "AA=="}},
        ),
        (
            {"type": "file", "file": {"file_data": "AAAA", "filename": "n.md"}},
            {"inlineData": {"mimeType": "text/markdown", "data": "AAAA", "displayName": "n.md"}},
        ),
    ],
)
def test_odd_spellings_of_media_are_reported(block, part):
    """Data that stands there in an unusual way is read, and that it is respelled is reported."""
    assert parts(user(block), "openai") == [part]
    assert "rewritten" in [reason for *_, reason in losses([user(block)], "openai")]


@pytest.mark.parametrize(
    ("block", "kind", "reason"),
    [
        ({"type": "file", "file": {"file_id": "file-1"}}, "file", "no_address"),
        ({"type": "file", "file": {}}, "file", "malformed"),
        ({"type": "image_url", "image_url": {"url": ""}}, "image_url", "malformed"),
        ({"type": "image_url", "image_url": {"url": "data:image/png;base64,%%%"}}, "image_url", "malformed"),
        ({"type": "hologram"}, "hologram", "unsupported"),
        ({}, "block", "unsupported"),
        ({"type": "text", "text": "\t"}, "text", "blank"),
    ],
)
def test_blocks_that_are_dropped(block, kind, reason):
    """A file that is only an id has no address; what is malformed, unknown or blank is reported and dropped."""
    found = losses([user({"type": "text", "text": "x"}, block)], "openai")
    assert (0, 1, kind, reason) in found
    assert parts(user({"type": "text", "text": "x"}, block), "openai") == [{"text": "x"}]


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": None, "refusal": "I will not."},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "I will not."}]},
    ],
)
def test_a_refusal_is_text(message):
    """What a model refuses with is what it said."""
    assert parts(message, "openai") == [{"text": "I will not."}]
    assert "rewritten" in [reason for *_, reason in losses([message], "openai")]


@pytest.mark.parametrize("content", [None, "", [], "  "])
def test_a_message_of_nothing_is_dropped(content):
    """A message with no part left is reported as empty."""
    assert losses([{"role": "assistant", "content": content}], "openai")[-1] == (0, None, "message", "empty")


def test_details_without_a_place_are_reported():
    """A speaker's name and an image's detail do not stop a message and are reported."""
    block = {"type": "image_url", "image_url": {"url": "https://a.example/b.png", "detail": "low"}}
    message = {**user(block), "name": "Ada"}
    assert losses([message], "openai") == [(0, None, "name", "no_place"), (0, 0, "image_url.detail", "no_place")]
    assert all(one.is_detail for one in formats.to_contents([message], "openai").dropped)


def test_unknown_roles_and_calls_are_reported():
    """A role or a kind of call that is not known is reported by its name."""
    assert losses([{"role": "narrator", "content": "x"}], "openai") == [(0, None, "narrator", "unknown")]
    custom = {"id": "c", "type": "custom", "custom": {"name": "f", "input": "x"}}
    message = {"role": "assistant", "content": "x", "tool_calls": [custom]}
    assert losses([message], "openai") == [(0, 0, "custom", "unsupported")]


def test_messages_come_back():
    """Texts, calls and results survive the way there and back."""
    assert_round_trip(
        [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": "wait", "tool_calls": [call('{"a":"ü"}')]},
            {"role": "tool", "tool_call_id": "c1", "content": "r"},
            {"role": "assistant", "content": None, "tool_calls": [call("{}", "c2")]},
            {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        ],
        "openai",
    )


def test_results_in_one_content_become_messages_of_their_own():
    """A Content with two results and words gives three messages in its order."""
    content = {
        "role": "user",
        "parts": [
            {"functionResponse": {"id": "a", "name": "f", "response": {"output": "1"}}},
            {"functionResponse": {"id": "b", "name": "f", "response": {"output": "2"}}},
            {"text": "go on"},
        ],
    }
    messages = formats.from_contents([content], "openai").messages
    assert [(one["role"], one["content"]) for one in messages] == [("tool", "1"), ("tool", "2"), ("user", "go on")]


@pytest.mark.parametrize(
    ("role", "found", "reported"),
    [
        ("model", [{"text": "t", "thought": True}], (0, 0, "thought", "unsupported")),
        (
            "model",
            [{"functionCall": {"id": "a", "name": "f", "args": {}}}, {"text": "x"}],
            (0, 1, "order", "rewritten"),
        ),
        ("model", [{"functionCall": {"name": "f", "args": {}}}], (0, 0, "functionCall", "no_id")),
        (
            "user",
            [{"functionResponse": {"id": "a", "name": "f", "response": {"error": "x"}}}],
            (0, 0, "functionResponse.error", "rewritten"),
        ),
        (
            "user",
            [{"fileData": {"mimeType": "application/pdf", "fileUri": "gs://a/b"}}],
            (0, 0, "fileData", "unsupported"),
        ),
        ("user", [{"executableCode": {"code": "1"}}], (0, None, "message", "empty")),
    ],
)
def test_what_openai_cannot_say_is_reported(role, found, reported):
    """The way back never loses in silence what a chat message has no place for."""
    assert reported in restore_losses([{"role": role, "parts": found}], "openai")
