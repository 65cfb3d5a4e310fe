"""Strands' messages, row by row of what its blocks become."""

from base64 import b64encode

import pytest

from streambank_client import formats
from streambank_client.formats import Options, ToolNames
from tests.client.formats.checks import THINKING, assert_round_trip, losses, parts, restore_losses

OFFICE = "application/vnd.openxmlformats-officedocument."
PAYLOAD = [
    {
        "role": "user",
        "content": [
            {"text": "weather?"},
            {"image": {"format": "png", "source": {"bytes": b".."}}},
            {"document": {"format": "pdf", "name": "d", "source": {"bytes": b".."}}},
        ],
    },
    {
        "role": "assistant",
        "content": [
            {"reasoningContent": {"reasoningText": {"text": "think", "signature": "sig"}}},
            {"text": "let me check"},
        ],
        "metadata": {"usage": {"inputTokens": 3}},
    },
    {"role": "assistant", "content": [{"text": "It is sunny"}], "metadata": {}},
]


def said(*blocks, role="assistant"):
    return {"role": role, "content": list(blocks)}


def use(call_id="t1", name="weather", **given):
    return {"toolUse": {"toolUseId": call_id, "name": name, "input": {}, **given}}


def result(*content, call_id="t1", status="success"):
    return {"toolResult": {"toolUseId": call_id, "status": status, "content": list(content)}}


def test_the_payload_of_a_memory_store_is_converted():
    """What Strands hands to `add_messages` becomes Contents: media inline, no reasoning, neighbours kept apart."""
    conversion = formats.to_contents(PAYLOAD, "strands")
    data = b64encode(b"..").decode()
    assert [one.content for one in conversion.contents] == [
        {
            "role": "user",
            "parts": [
                {"text": "weather?"},
                {"inlineData": {"mimeType": "image/png", "data": data}},
                {"inlineData": {"mimeType": "application/pdf", "data": data, "displayName": "d"}},
            ],
        },
        {"role": "model", "parts": [{"text": "let me check"}]},
        {"role": "model", "parts": [{"text": "It is sunny"}]},
    ]
    assert [one.index for one in conversion.contents] == [0, 1, 2]
    assert losses(PAYLOAD, "strands") == [
        (1, None, "metadata", "no_place"),
        (1, 0, "reasoningContent", "reasoning"),
    ]


def test_a_tracking_id_is_the_message_id():
    """The id that Strands gives a message is kept beside the Content; without one there is none, and no time."""
    tracked, bare = {**said({"text": "a"}), "tracking_id": "5e4f"}, said({"text": "b"})
    found = formats.to_contents([tracked, bare], "strands").contents
    assert [(one.message_id, one.time) for one in found] == [("5e4f", None), (None, None)]


def test_a_call_and_its_result():
    """A toolUse is a functionCall of the model, its toolResult a functionResponse of the user, named by the call."""
    messages = [said(use(input={"city": "Graz"})), said(result({"text": "sunny"}), role="user")]
    found = [one.content for one in formats.to_contents(messages, "strands").contents]
    assert found == [
        {"role": "model", "parts": [{"functionCall": {"id": "t1", "name": "weather", "args": {"city": "Graz"}}}]},
        {
            "role": "user",
            "parts": [{"functionResponse": {"id": "t1", "name": "weather", "response": {"output": "sunny"}}}],
        },
    ]


@pytest.mark.parametrize("given", [5, "x", [1], None])
def test_input_that_is_no_object_is_wrapped(given):
    """Arguments must be an object: anything else stands under `input`, and is reported as rewritten."""
    message = said(use(input=given))
    assert parts(message, "strands")[0]["functionCall"]["args"] == {"input": given}
    assert losses([message], "strands") == [(0, 0, "toolUse", "rewritten")]


@pytest.mark.parametrize(
    ("content", "status", "response"),
    [
        ([{"text": "sunny"}], "success", {"output": "sunny"}),
        ([{"text": "boom"}], "error", {"error": "boom"}),
        ([{"json": {"t": 21}}], "success", {"output": {"t": 21}}),
        ([{"json": [1]}], "error", {"error": [1]}),
        ([], "success", {"output": ""}),
        ([{"text": "a"}, {"text": "b"}], "success", {"output": "a\nb"}),
        ([{"text": "a"}, {"json": {"t": 21}}], "success", {"output": 'a\n{"t":21}'}),
        ([{"text": " "}], "success", {"output": ""}),
    ],
)
def test_what_a_tool_gave_back(content, status, response):
    """One JSON alone is itself, anything else joined text; the status says whether it is output or error."""
    message = said(result(*content, status=status), role="user")
    assert parts(message, "strands")[0]["functionResponse"]["response"] == response


def test_pieces_that_are_joined_are_reported():
    """Several texts become one, which is reported; so is a blank one."""
    message = said(result({"text": "a"}, {"text": "b"}, {"text": " "}), role="user")
    assert losses([message], "strands") == [
        (0, 0, "toolResult.text", "blank"),
        (0, 0, "toolResult", "rewritten"),
    ]


def test_media_of_a_result_are_parts_of_the_response():
    """An image that a tool returned stands in the response's parts; one that is too large is dropped alone."""
    image = {"image": {"format": "png", "source": {"bytes": b"12345"}}}
    message = said(result({"text": "a"}, image), role="user")
    response = parts(message, "strands")[0]["functionResponse"]
    assert response["parts"] == [{"inlineData": {"mimeType": "image/png", "data": "MTIzNDU="}}]
    tight = Options(max_inline_bytes=4)
    assert "parts" not in parts(message, "strands", tight)[0]["functionResponse"]
    assert losses([message], "strands", tight) == [(0, 0, "image", "too_large")]


def test_the_name_of_a_call_that_came_in_another_batch():
    """Batches that share their tool names find a call of an earlier one; without, the name is empty."""
    names = ToolNames()
    formats.to_contents([said(use())], "strands", tool_names=names)
    answer = [said(result({"text": "x"}), role="user")]
    (known,) = formats.to_contents(answer, "strands", tool_names=names).contents
    assert known.content["parts"][0]["functionResponse"]["name"] == "weather"
    assert parts(answer[0], "strands")[0]["functionResponse"]["name"] == ""


@pytest.mark.parametrize(
    ("kind", "form", "mime"),
    [
        ("image", "png", "image/png"),
        ("image", "jpeg", "image/jpeg"),
        ("image", "gif", "image/gif"),
        ("image", "webp", "image/webp"),
        ("document", "pdf", "application/pdf"),
        ("document", "csv", "text/csv"),
        ("document", "doc", "application/msword"),
        ("document", "docx", f"{OFFICE}wordprocessingml.document"),
        ("document", "xls", "application/vnd.ms-excel"),
        ("document", "xlsx", f"{OFFICE}spreadsheetml.sheet"),
        ("document", "html", "text/html"),
        ("document", "txt", "text/plain"),
        ("document", "md", "text/markdown"),
        ("video", "three_gp", "video/3gpp"),
        ("video", "mp4", "video/mp4"),
        ("video", "mkv", "video/x-matroska"),
        ("video", "mov", "video/quicktime"),
        ("video", "flv", "video/x-flv"),
        ("video", "wmv", "video/x-ms-wmv"),
        ("video", "mpeg", "video/mpeg"),
        ("video", "mpg", "video/mpg"),
        ("video", "webm", "video/webm"),
        ("audio", "mp3", "audio/mpeg"),
        ("audio", "wav", "audio/wav"),
        ("audio", "ogg", "audio/ogg"),
    ],
)
def test_formats_and_mime_types(kind, form, mime):
    """Every format has its MIME type, also the odd ones, and is found again from it."""
    named = {"name": "n"} if kind == "document" else {}
    block = {kind: {"format": form, **named, "source": {"bytes": b"x"}}}
    assert parts(said(block), "strands")[0]["inlineData"]["mimeType"] == mime
    assert_round_trip([said(block)], "strands")


def test_what_lies_in_s3_is_a_link():
    """A location is a fileUri; the account that owns the bucket has no place and is reported."""
    location = {"type": "s3", "uri": "s3://b/k.pdf", "bucketOwner": "111122223333"}
    message = said({"document": {"format": "pdf", "name": "k", "source": {"location": location}}}, role="user")
    assert parts(message, "strands") == [
        {"fileData": {"mimeType": "application/pdf", "fileUri": "s3://b/k.pdf", "displayName": "k"}}
    ]
    assert losses([message], "strands") == [(0, 0, "document.source.location.bucketOwner", "no_place")]


def test_bytes_as_sessions_keep_them():
    """Bytes that Strands' session managers wrote as JSON are read like raw ones."""
    kept = {"__bytes_encoded__": True, "data": b64encode(b"abc").decode()}
    image = {"image": {"format": "png", "source": {"bytes": kept}}}
    assert parts(said(image), "strands") == [{"inlineData": {"mimeType": "image/png", "data": "YWJj"}}]


@pytest.mark.parametrize(
    ("source", "reason"),
    [({}, "malformed"), ({"bytes": "%%"}, "malformed"), ({"bytes": b""}, "blank"), ({"bytes": 7}, "malformed")],
)
def test_media_without_content_are_reported(source, reason):
    """An image without bytes or with what is none is dropped, and its message goes on without it."""
    message = said({"text": "see"}, {"image": {"format": "png", "source": source}})
    assert parts(message, "strands") == [{"text": "see"}]
    assert losses([message], "strands") == [(0, 1, "image", reason)]


def test_reasoning_is_a_thought_where_it_is_wanted():
    """Reasoning is dropped by default, a thought on request, its signature as bytes."""
    message = PAYLOAD[1]
    assert parts(message, "strands", THINKING)[0] == {"text": "think", "thought": True, "thoughtSignature": "c2ln"}


@pytest.mark.parametrize(
    ("block", "kind", "reason"),
    [
        ({"reasoningContent": {"redactedContent": b"x"}}, "redactedContent", "reasoning"),
        ({"cachePoint": {"type": "default"}}, "cachePoint", "unsupported"),
        ({"guardContent": {"text": {"text": "x", "qualifiers": []}}}, "guardContent", "unsupported"),
        ({"hologram": {}}, "hologram", "unsupported"),
        ({}, "block", "malformed"),
        ({"text": " \n"}, "text", "blank"),
    ],
)
def test_blocks_that_are_dropped(block, kind, reason):
    """What is no conversation is dropped and reported, also where reasoning is wanted, and with it an empty message."""
    for options in (Options(), THINKING):
        assert losses([said(block)], "strands", options) == [(0, 0, kind, reason), (0, None, "message", "empty")]


def test_cited_text_is_text():
    """Of citations the text remains; that what it was cited from is gone is reported."""
    cited = {"citationsContent": {"citations": [{"title": "t"}], "content": [{"text": "a"}, {"text": "b"}]}}
    assert parts(said(cited), "strands") == [{"text": "a"}, {"text": "b"}]
    assert losses([said(cited)], "strands") == [(0, 0, "citationsContent", "rewritten")]


def test_messages_come_back():
    """Text, calls, results, reasoning, media and links survive the way there and back unchanged."""
    location = {"type": "s3", "uri": "s3://b/v.mp4"}
    assert_round_trip(
        [
            {**said({"text": "hi"}, role="user"), "tracking_id": "a"},
            said(
                {"reasoningContent": {"reasoningText": {"text": "t", "signature": "Zürich"}}},
                {"text": "x"},
                use(input={"a": [1, {"b": None}]}),
                use("t2"),
            ),
            said(
                result({"json": {"t": 21}}, {"image": {"format": "webp", "source": {"bytes": b"\xff"}}}),
                result({"text": "no"}, call_id="t2", status="error"),
                role="user",
            ),
            said({"video": {"format": "mp4", "source": {"location": location}}}, role="user"),
        ],
        "strands",
    )


@pytest.mark.parametrize(
    ("part", "reported"),
    [
        ({"functionCall": {"name": "f", "args": {}}}, ("functionCall", "no_id")),
        ({"functionResponse": {"name": "f", "response": {"output": 1}}}, ("functionResponse", "no_id")),
        ({"executableCode": {"code": "1"}}, ("executableCode", "unsupported")),
        ({"fileData": {"mimeType": "image/png", "fileUri": "https://a.example/b"}}, ("fileData", "unsupported")),
        ({"inlineData": {"mimeType": "image/tiff", "data": "AA=="}}, ("inlineData", "unsupported")),
        ({"text": "t", "thought": True, "thoughtSignature": "/w=="}, ("thoughtSignature", "no_place")),
        ({"text": "t", "partMetadata": {"a": 1}}, ("partMetadata", "no_place")),
        (
            {"functionResponse": {"id": "i", "name": "f", "response": {"result": 1}}},
            ("functionResponse", "rewritten"),
        ),
        (
            {"functionResponse": {"id": "i", "name": "f", "response": {"output": 1}}},
            ("functionResponse.name", "no_place"),
        ),
    ],
)
def test_what_strands_cannot_say_is_reported(part, reported):
    """The way back never loses in silence what Strands has no block or field for."""
    found = restore_losses([{"role": "model", "parts": [part]}], "strands")
    assert (0, 0, *reported) in found
