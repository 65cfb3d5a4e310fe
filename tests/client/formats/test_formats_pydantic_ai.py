"""Messages of pydantic-ai, row by row."""

from datetime import UTC, datetime

from streambank_client import formats
from tests.client.formats.checks import assert_round_trip, losses, parts

TAG = "pydantic-ai"
AT = "2026-05-01T12:00:00.123456Z"


def request(*given, **fields):
    return {"kind": "request", "parts": list(given), **fields}


def response(*given, **fields):
    return {"kind": "response", "parts": list(given), **fields}


def part(kind, content, **fields):
    return {"part_kind": kind, "content": content, **fields}


def call(args, call_id="c1"):
    return {"part_kind": "tool-call", "tool_name": "weather", "args": args, "tool_call_id": call_id}


def result(content, call_id="c1", **fields):
    return part("tool-return", content, tool_name="weather", tool_call_id=call_id, **fields)


def test_a_run_with_a_tool():
    """Text, calls and results are read, with times; instructions and usage are reported."""
    messages = [
        request(part("system-prompt", "Be brief."), part("user-prompt", "weather?", timestamp=AT)),
        response(call('{"city":"Graz"}'), timestamp=AT, usage={"input_tokens": 1}),
        request(result({"sky": "blue"}, timestamp=AT)),
        response(part("thinking", "hm"), part("text", "Sunny."), timestamp=AT),
    ]
    conversion = formats.to_contents(messages, TAG)
    assert [one.content for one in conversion.contents] == [
        {"role": "user", "parts": [{"text": "weather?"}]},
        {"role": "model", "parts": [{"functionCall": {"id": "c1", "name": "weather", "args": {"city": "Graz"}}}]},
        {
            "role": "user",
            "parts": [{"functionResponse": {"id": "c1", "name": "weather", "response": {"output": {"sky": "blue"}}}}],
        },
        {"role": "model", "parts": [{"text": "Sunny."}]},
    ]
    assert {one.time for one in conversion.contents} == {datetime(2026, 5, 1, 12, 0, 0, 123456, tzinfo=UTC)}
    assert losses(messages, TAG) == [
        (0, 0, "system-prompt", "system"),
        (1, None, "usage", "no_place"),
        (3, 0, "thinking", "reasoning"),
    ]
    assert not any(one.is_message for one in conversion.dropped)


def test_a_retry_is_a_failed_result_or_no_words_of_the_user():
    """With a tool it is that call's error; without one the framework itself speaks to the model."""
    messages = [
        request(part("retry-prompt", "no such city", tool_name="weather", tool_call_id="c1")),
        request(part("retry-prompt", "Please call a tool.")),
    ]
    conversion = formats.to_contents(messages, TAG)
    [content] = conversion.contents
    assert parts(request(result("no such city", outcome="retried")), TAG) == content.content["parts"]
    assert content.content["parts"] == [
        {"functionResponse": {"id": "c1", "name": "weather", "response": {"error": "no such city"}}}
    ]
    assert losses(messages, TAG)[1:] == [(1, 0, "retry-prompt", "unsupported"), (1, None, "message", "empty")]


def test_a_prompt_of_texts_and_media():
    """Bytes are inline, a URL is an address, a cache point is nothing."""
    items = [
        "look",
        {"kind": "binary", "data": "AAAA", "media_type": "image/png", "identifier": "f1"},
        {"kind": "document-url", "url": "https://a.example/b.pdf", "media_type": "application/pdf"},
        {"kind": "cache-point"},
    ]
    message = request(part("user-prompt", items))
    assert parts(message, TAG) == [
        {"text": "look"},
        {"inlineData": {"mimeType": "image/png", "data": "AAAA"}},
        {"fileData": {"mimeType": "application/pdf", "fileUri": "https://a.example/b.pdf"}},
    ]
    assert losses([message], TAG) == [(0, 0, "cache-point", "unsupported")]


def test_round_trip():
    """Messages come back as they were, with their times."""
    image = {"kind": "binary", "data": "AAAA", "media_type": "image/png"}
    assert_round_trip(
        [
            request(part("user-prompt", ["a", image], timestamp=AT)),
            response(part("thinking", "hm", signature="s"), part("text", "b"), call("{}"), timestamp=AT),
            request(result("ok", timestamp=AT), result("bad", "c2", outcome="failed", timestamp=AT)),
        ],
        TAG,
    )


def test_a_response_id_is_no_message_id():
    """Some servers give the same id again: as an event's id it would lose a message."""
    [content] = formats.to_contents([response(part("text", "a"), provider_response_id="chatcmpl-1")], TAG).contents
    assert content.message_id is None
