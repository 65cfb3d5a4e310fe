"""Koog's messages of both generations, row by row."""

import json
from datetime import UTC, datetime

import pytest

from streambank_client import formats
from tests.client.formats.checks import THINKING, assert_round_trip, losses, parts, restore_losses
from tests.client.formats.shape_parts import NO_TIME

P = "ai.koog.prompt.message."
META = {"timestamp": NO_TIME}


def old(kind, *found, meta=META, **fields):
    return {"type": f"{P}Message.{kind}", **fields, "parts": list(found), "metaInfo": meta}


def new(kind, *found, meta=META, **fields):
    return {"type": f"{P}Message.{kind}", "parts": list(found), "metaInfo": meta, **fields}


def part(kind, **fields):
    return {"type": f"{P}MessagePart.{kind}", **fields}


def image(**fields):
    content = {"type": f"{P}AttachmentContent.Binary.Base64", "base64": "AAAA"}
    return {"content": content, "format": "png", **fields}


# What a user's golden test pins for Koog 1.1.1, in shape.
GOLDEN = [
    new("System", {"text": "You are Raven."}),
    new("User", part("Text", text="one"), part("Text", text="Hello!")),
    new(
        "Assistant",
        part("Reasoning", content=["thinking..."]),
        part("Text", text="Hi there"),
        part("Tool.Call", id="call_1", tool="flag", args='{"flag":true}'),
        finishReason="tool_calls",
    ),
    new("User", part("Tool.Result", id="call_1", tool="flag", parts=[part("Text", text="ok")])),
    new("User", part("Attachment", source={"type": f"{P}AttachmentSource.Image", **image()})),
]


def test_the_newer_koog():
    """System is reported and dropped, the rest becomes Contents: an absent MIME type is the one that Koog implies."""
    conversion = formats.to_contents(GOLDEN, "koog-1")
    assert [(one.index, one.content) for one in conversion.contents] == [
        (1, {"role": "user", "parts": [{"text": "one"}, {"text": "Hello!"}]}),
        (
            2,
            {
                "role": "model",
                "parts": [
                    {"text": "Hi there"},
                    {"functionCall": {"id": "call_1", "name": "flag", "args": {"flag": True}}},
                ],
            },
        ),
        (
            3,
            {
                "role": "user",
                "parts": [{"functionResponse": {"id": "call_1", "name": "flag", "response": {"output": "ok"}}}],
            },
        ),
        (4, {"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": "AAAA"}}]}),
    ]
    assert losses(GOLDEN, "koog-1") == [
        (0, None, "system", "system"),
        (2, None, "finishReason", "no_place"),
        (2, 0, "Reasoning", "reasoning"),
    ]
    assert [one.time for one in conversion.contents] == [None] * 4


def test_the_older_koog():
    """Calls, results and reasoning are messages of their own; text parts may or may not say that they are text."""
    messages = [
        old("System", {"text": "be kind"}),
        old("User", {"text": "hi"}, {"type": "text", "text": "you"}),
        old("Reasoning", {"text": "hm"}, encrypted="e"),
        old("Tool.Call", {"text": '{"a":1}'}, id="c1", tool="f"),
        old("Tool.Call", {"text": '{"a":2}'}, id=None, tool="g"),
        old("Tool.Result", {"text": "r1"}, id="c1", tool="f"),
        old("Tool.Result", {"text": "r2"}, id=None, tool="g"),
        old("Assistant", {"type": f"{P}ContentPart.Image", **image(mimeType="image/png", fileName="a.png")}),
    ]
    found = formats.to_contents(messages, "koog-0.8", options=THINKING).contents
    assert [one.content for one in found] == [
        {"role": "user", "parts": [{"text": "hi"}, {"text": "you"}]},
        {"role": "model", "parts": [{"text": "hm", "thought": True, "thoughtSignature": "ZQ=="}]},
        {"role": "model", "parts": [{"functionCall": {"id": "c1", "name": "f", "args": {"a": 1}}}]},
        {"role": "model", "parts": [{"functionCall": {"name": "g", "args": {"a": 2}}}]},
        {"role": "user", "parts": [{"functionResponse": {"id": "c1", "name": "f", "response": {"output": "r1"}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "g", "response": {"output": "r2"}}}]},
        {
            "role": "model",
            "parts": [{"inlineData": {"mimeType": "image/png", "data": "AAAA", "displayName": "a.png"}}],
        },
    ]
    assert losses(messages, "koog-0.8", THINKING) == [(0, None, "system", "system")]


@pytest.mark.parametrize(
    ("args", "found"),
    [
        ("{oops", {"_raw": "{oops"}),
        ("[1]", {"input": [1]}),
        ("7", {"input": 7}),
        ("null", {"input": None}),
        ("", {}),
        ('{"a": NaN}', {"_raw": '{"a": NaN}'}),
        ('{"a": 1e999}', {"_raw": '{"a": 1e999}'}),
        ("[" * 100_000, {"_raw": "[" * 100_000}),
    ],
)
def test_arguments_that_are_no_object(args, found):
    """Arguments that are no JSON stand under `_raw`, those that are no object under `input`; both are reported."""
    older = old("Tool.Call", {"text": args}, id="c", tool="f")
    newer = new("Assistant", part("Tool.Call", id="c", tool="f", args=args))
    for message, tag, at, kind in ((older, "koog-0.8", None, "Tool.Call"), (newer, "koog-1", 0, "Tool.Call")):
        assert parts(message, tag)[0]["functionCall"]["args"] == found
        assert losses([message], tag) == [(0, at, kind, "rewritten")]


@pytest.mark.parametrize(
    ("stamp", "time"),
    [
        (NO_TIME, None),
        ("2026-05-01T12:00:00Z", datetime(2026, 5, 1, 12, tzinfo=UTC)),
        ("2026-05-01T12:00:00.123456789Z", datetime(2026, 5, 1, 12, 0, 0, 123456, tzinfo=UTC)),
    ],
)
def test_the_time_of_a_message(stamp, time):
    """A timestamp is kept to the microsecond; Koog's word for "no time" is no time, without a report."""
    message = new("User", part("Text", text="x"), meta={"timestamp": stamp})
    (found,) = formats.to_contents([message], "koog-1").contents
    assert found.time == time
    assert losses([message], "koog-1") == []


@pytest.mark.parametrize("stamp", ["yesterday", "2026-02-30T00:00:00Z", "+100000-01-01T00:00:00Z"])
def test_a_time_that_is_none_is_reported(stamp):
    """What is no time of the calendar's does not stop the message."""
    message = new("User", part("Text", text="x"), meta={"timestamp": stamp})
    assert parts(message, "koog-1") == [{"text": "x"}]
    assert losses([message], "koog-1") == [(0, None, "metaInfo.timestamp", "malformed")]


def test_the_id_of_a_message():
    """The event id in a message's metadata is its id; token counts and other metadata are reported."""
    meta = {"timestamp": NO_TIME, "totalTokensCount": 5, "metadata": {"agentcore.eventId": "e1", "x": 1}}
    message = new("Assistant", part("Text", text="x"), meta=meta)
    (found,) = formats.to_contents([message], "koog-1").contents
    assert found.message_id == "e1"
    assert losses([message], "koog-1") == [
        (0, None, "metaInfo.totalTokensCount", "no_place"),
        (0, None, "metaInfo.metadata.x", "no_place"),
    ]


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ({"type": f"{P}AttachmentContent.Binary.Base64", "base64": "YWJj"}, "YWJj"),
        ({"type": f"{P}AttachmentContent.Binary.Bytes", "base64": "YWJj"}, "YWJj"),
        ({"type": f"{P}AttachmentContent.Binary.Bytes", "data": [97, -1, 99]}, "Yf9j"),
        ({"type": f"{P}AttachmentContent.PlainText", "text": "abc"}, "YWJj"),
    ],
)
def test_bytes_of_attachments(content, found):
    """Bytes are read from base64, from Kotlin's signed numbers and from plain text."""
    source = {"type": f"{P}AttachmentSource.File", "content": content, "format": "md", "mimeType": "text/markdown"}
    inline = {"inlineData": {"mimeType": "text/markdown", "data": found}}
    assert parts(new("User", part("Attachment", source=source)), "koog-1") == [inline]
    message = old("User", {**source, "type": f"{P}ContentPart.File"})
    assert parts(message, "koog-0.8") == [inline]


def test_a_link_is_a_link():
    """A URL becomes a fileUri in both generations."""
    content = {"type": f"{P}AttachmentContent.URL", "url": "https://a.example/b.mp4"}
    source = {"type": f"{P}AttachmentSource.Video", "content": content, "format": "mp4"}
    link = {"fileData": {"mimeType": "video/mp4", "fileUri": "https://a.example/b.mp4"}}
    assert parts(new("User", part("Attachment", source=source)), "koog-1") == [link]


def test_a_failed_tool():
    """An error that Koog 1 reports is an error."""
    failed = part("Tool.Result", id="c", tool="f", parts=[part("Text", text="boom")], isError=True)
    assert parts(new("User", failed), "koog-1")[0]["functionResponse"]["response"] == {"error": "boom"}


def test_an_image_of_a_tool():
    """What a tool of Koog 1 attaches stands in the response's parts."""
    attached = part("Attachment", source={"type": f"{P}AttachmentSource.Image", **image()})
    message = new("User", part("Tool.Result", id="c", tool="f", parts=[part("Text", text="x"), attached]))
    response = parts(message, "koog-1")[0]["functionResponse"]
    assert response["parts"] == [{"inlineData": {"mimeType": "image/png", "data": "AAAA"}}]


@pytest.mark.parametrize("tag", ["koog-0.8", "koog-1"])
def test_unknown_classes_are_reported(tag):
    """A message or a part of a class that is not known is reported by its name."""
    strange = {"type": f"{P}Message.Hologram", "parts": [], "metaInfo": META}
    assert losses([strange], tag) == [(0, None, "Hologram", "unknown")]
    odd = {"type": f"{P}Message.User", "parts": [{"type": "x.Hologram"}], "metaInfo": META}
    assert [reason for *_, reason in losses([odd], tag)] == ["unsupported", "empty"]


TIMED = {"timestamp": "2026-05-01T12:00:00.123Z", "metadata": {"agentcore.eventId": "e1"}}


def test_newer_messages_come_back():
    """Every kind of part survives the way there and back, time and id too."""
    video = {"type": f"{P}AttachmentSource.Video", **image(format="3gp", mimeType="video/3gpp")}
    failed = part("Tool.Result", id="c", tool="f", parts=[part("Text", text="no")], isError=True)
    assert_round_trip(
        [
            new("User", part("Text", text="a"), part("Attachment", source=video), failed, meta=TIMED),
            new(
                "Assistant",
                part("Reasoning", content=["hm"], encrypted="e"),
                part("Text", text="b"),
                part("Tool.Call", id=None, tool="g", args='{"a":[1]}'),
            ),
        ],
        "koog-1",
    )


def test_older_messages_come_back():
    """Every kind of message survives the way there and back, time and id too."""
    file = {"type": f"{P}ContentPart.File", **image(format="docx", mimeType=DOCX, fileName="a.docx")}
    assert_round_trip(
        [
            old("User", {"type": "text", "text": "a"}, file, meta=TIMED),
            old("Reasoning", {"text": "hm"}, encrypted="e"),
            old("Tool.Call", {"text": '{"a":1}'}, id="c", tool="f"),
            old("Tool.Result", {"text": "r"}, id="c", tool="f"),
            old("Assistant", {"type": "text", "text": "b"}),
        ],
        "koog-0.8",
    )


DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


def test_one_content_becomes_several_older_messages():
    """A Content of Google's with words, calls and words again is written as the messages that Koog 0.8 has for them."""
    content = {
        "role": "model",
        "parts": [
            {"text": "a"},
            {"text": "b"},
            {"functionCall": {"name": "f", "args": {"x": "ü"}}},
            {"functionCall": {"name": "g", "args": {}}},
            {"text": "c"},
        ],
    }
    messages = formats.from_contents([content], "koog-0.8").messages
    assert [message["type"].removeprefix(f"{P}Message.") for message in messages] == [
        "Assistant",
        "Tool.Call",
        "Tool.Call",
        "Assistant",
    ]
    assert json.loads(messages[1]["parts"][0]["text"]) == {"x": "ü"}


@pytest.mark.parametrize(
    ("tag", "role", "found", "reported"),
    [
        ("koog-1", "user", {"functionCall": {"name": "f", "args": {}}}, ("functionCall", "unsupported")),
        ("koog-1", "model", {"functionResponse": {"name": "f", "response": {}}}, ("functionResponse", "unsupported")),
        ("koog-1", "user", {"executableCode": {"code": "1"}}, ("executableCode", "unsupported")),
        ("koog-1", "user", {"fileData": {"mimeType": "image/png"}}, ("fileData", "malformed")),
        (
            "koog-0.8",
            "user",
            {"functionResponse": {"name": "f", "response": {"error": "x"}}},
            ("functionResponse.error", "rewritten"),
        ),
        (
            "koog-0.8",
            "user",
            {"functionResponse": {"name": "f", "response": {"output": {"a": 1}}}},
            ("functionResponse", "rewritten"),
        ),
    ],
)
def test_what_koog_cannot_say_is_reported(tag, role, found, reported):
    """The way back never loses in silence what Koog has no class for."""
    assert (0, 0, *reported) in restore_losses([{"role": role, "parts": [found]}], tag)
