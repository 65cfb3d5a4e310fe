"""What holds for every format and every message: nothing raises, nothing is lost without a note, and what is not
lost comes back."""

import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streambank.wire import ingest
from streambank_client import formats
from streambank_client.formats import Options, Reason
from tests.client.formats.shapes import SHAPES

pytestmark = pytest.mark.slow  # half a minute of drawing

EVERYTHING = Options(include_reasoning=True)
TAGS = sorted(SHAPES)
# The formats that Contents are converted to: those of frameworks, not of exports.
TARGETS = [tag for tag in TAGS if formats.FORMATS[tag].from_contents]
FEW = settings(max_examples=150, deadline=None)


def some(tag):
    return st.lists(SHAPES[tag], max_size=3)


def filled(value):
    """Return *value* without fields that hold nothing, which is how formats differ in what they leave out."""
    if isinstance(value, dict):
        inner = {key: filled(item) for key, item in value.items()}
        return {key: item for key, item in inner.items() if item not in (None, "", [], {}) and item is not False}
    return [filled(item) for item in value] if isinstance(value, list) else value


def normal(tag, message):
    """Return *message* in the one spelling that its format's way back writes."""
    if tag == "openai" and isinstance(message.get("content"), list):
        return {**message, "content": _as_text(message["content"])}
    if tag == "langchain":
        return {**message, "data": {**message["data"], "content": _as_text(message["data"]["content"])}}
    if tag == "openai-responses":
        return _as_item(message)
    if tag == "pydantic-ai":
        return {**message, "parts": [_as_prompt(part) for part in message["parts"]]}
    return _without_guessed(message) if tag.startswith("koog") else message


def _as_item(item):
    """An item is restored with its type, with its content as a list and its output as a text where it is one."""
    content, output = item.get("content"), item.get("output")
    item = {"type": "message", **{name: value for name, value in item.items() if value != "completed"}}
    if isinstance(content, str):
        kind = "output_text" if item.get("role") == "assistant" else "input_text"
        return {**item, "content": [{"type": kind, "text": content}]}
    is_text = isinstance(output, list) and len(output) == 1 and "text" in output[0]
    return {**item, "output": output[0]["text"]} if is_text else item


def _as_prompt(part):
    """A prompt of one text is restored as this text; identifiers of media are derived from them."""
    part = _without_identifiers(part)
    content = part.get("content")
    is_text = part["part_kind"] == "user-prompt" and isinstance(content, list) and len(content) == 1
    part = {name: value for name, value in part.items() if (name, value) != ("outcome", "success")}
    return {**part, "content": content[0]} if is_text and isinstance(content[0], str) else part


def _without_identifiers(value):
    if isinstance(value, list):
        return [_without_identifiers(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _without_identifiers(item) for key, item in value.items() if key != "identifier" or "kind" not in value
    }


def _without_guessed(value):
    """Koog leaves a MIME type out that its class and format tell."""
    if isinstance(value, list):
        return [_without_guessed(item) for item in value]
    if not isinstance(value, dict):
        return value
    guess = f"{str(value.get('type')).rpartition('.')[2].lower()}/{value.get('format')}"
    return {key: _without_guessed(item) for key, item in value.items() if (key, item) != ("mimeType", guess)}


def _as_text(content):
    if isinstance(content, str):
        return content
    blocks = [{"type": "text", "text": item} if isinstance(item, str) else item for item in content]
    is_plain = len(blocks) == 1 and blocks[0]["type"] == "text"
    return blocks[0]["text"] if is_plain else blocks


def parsed(value):
    """Return *value* with JSON texts of arguments read, since their spacing is not kept."""
    if isinstance(value, dict):
        return {key: _argument(item) if key in ("arguments", "args") else parsed(item) for key, item in value.items()}
    return [parsed(item) for item in value] if isinstance(value, list) else value


def _argument(value):
    return json.loads(value) if isinstance(value, str) else value


def compared(tag, messages):
    """Return *messages* as they are compared; Koog's calls of 0.8 have their arguments in a text."""
    found = [parsed(filled(normal(tag, message))) for message in messages]
    for message in found:
        if tag == "koog-0.8" and message["type"].endswith("Tool.Call"):
            message["parts"] = [json.loads(part["text"]) for part in message["parts"]]
    return found


@pytest.mark.parametrize("tag", TARGETS)
@FEW
@given(st.data())
def test_what_is_reported_complete_comes_back_as_it_was(tag, data):
    """Where a message's conversion and the way back report nothing dropped, the message is what it was."""
    message = data.draw(SHAPES[tag])
    there = formats.to_contents([message], tag, options=EVERYTHING)
    back = formats.from_contents(there.contents, tag)
    if not there.dropped and not back.dropped:
        assert compared(tag, back.messages) == compared(tag, [message])


@pytest.mark.parametrize("tag", TAGS)
@FEW
@given(st.data())
def test_each_message_is_converted_or_reported(tag, data):
    """Every index is among the Contents or among the dropped messages, never in both, and the order is kept."""
    messages = data.draw(some(tag))
    conversion = formats.to_contents(messages, tag)
    kept = [one.index for one in conversion.contents]
    if tag == "agentcore":
        kept = list(dict.fromkeys(kept))  # an event may have several speakers
    gone = [one.index for one in conversion.dropped if one.is_message]
    assert sorted(kept + gone) == list(range(len(messages)))
    assert kept == sorted(kept)


@pytest.mark.parametrize("tag", TAGS)
@FEW
@given(st.data())
def test_the_service_takes_what_comes_out(tag, data):
    """Each Content passes the service's own reader as an event: pure JSON, a role that it knows, parts with words."""
    conversion = formats.to_contents(data.draw(some(tag)), tag, options=EVERYTHING)
    for one in conversion.contents:
        content = json.loads(json.dumps(one.content, allow_nan=False))
        assert content == one.content
        event = {"content": content}
        (keyed,) = ingest.events({"events": [event]}, "directContentsSource")
        assert keyed.event.parts
        assert all(part["text"].strip() for part in keyed.event.parts if "text" in part)


@pytest.mark.parametrize("tag", TAGS)
@FEW
@given(st.data())
def test_messages_are_left_alone(tag, data):
    """A conversion changes nothing of its input, and a change of the input afterwards nothing of the Contents."""
    messages = data.draw(some(tag))
    before = copy.deepcopy(messages)
    conversion = formats.to_contents(messages, tag, options=EVERYTHING)
    assert messages == before
    after = copy.deepcopy([one.content for one in conversion.contents])
    for message in messages if tag != "whatsapp" else ():
        scrambled(message)
    assert [one.content for one in conversion.contents] == after


def scrambled(value):
    for inner in list(value.values()) if isinstance(value, dict) else value:
        if isinstance(inner, dict | list):
            scrambled(inner)
    value.clear()


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("tag", TAGS)
@settings(max_examples=25, deadline=None)
@given(st.data())
def test_any_format_becomes_any_other(tag, target, data):
    """Contents of every source can be written in every format, and a Content that gives no message is reported."""
    conversion = formats.to_contents(data.draw(some(tag)), tag, options=EVERYTHING)
    restored = formats.from_contents(conversion.contents, target)
    empty = {one.index for one in restored.dropped if one.is_message}
    assert len(restored.messages) >= len(conversion.contents) - len(empty)
    assert all(formats.detect(message) == target for message in restored.messages if told(target, message))


def told(target, message):
    """Koog's messages of words alone look alike in both generations where they have no parts that say more."""
    return not target.startswith("koog") or any("type" in part for part in message["parts"])


@FEW
@given(some("google"))
def test_contents_come_back_identical(contents):
    """Google's round trip is the identity for what is not reported."""
    there = formats.to_contents(contents, "google", options=EVERYTHING)
    if not there.dropped:
        assert list(formats.from_contents(there.contents, "google").messages) == contents


@FEW
@given(some("google"))
def test_both_spellings_are_one(contents):
    """A Content in snake_case is the one in camelCase, with the caller's own keys left alone."""
    assert formats.to_contents([snaked(one) for one in contents], "google") == formats.to_contents(contents, "google")


OWN = ("args", "response", "partMetadata")


def snaked(value):
    if isinstance(value, dict):
        return {_snake(key): item if key in OWN else snaked(item) for key, item in value.items()}
    return [snaked(item) for item in value] if isinstance(value, list) else value


def _snake(name):
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


@FEW
@given(some("strands"), st.integers(0, 40), st.integers(60, 400))
def test_a_content_keeps_to_its_limits(messages, most_inline, most_content):
    """No Content has more bytes of media, or of JSON, than it is allowed; what is too large is reported."""
    options = Options(max_inline_bytes=most_inline, max_content_bytes=most_content)
    conversion = formats.to_contents(messages, "strands", options=options)
    for one in conversion.contents:
        assert len(json.dumps(one.content, ensure_ascii=False, separators=(",", ":")).encode()) <= most_content
    roomy = formats.to_contents(messages, "strands", options=Options(max_content_bytes=most_content))
    if roomy != conversion:
        assert any(one.reason is Reason.TOO_LARGE for one in conversion.dropped)
