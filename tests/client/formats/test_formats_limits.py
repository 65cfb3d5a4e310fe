"""What fits into an event, and what the service would not take at all."""

import json

import pytest

from streambank.wire import ingest
from streambank_client import formats
from streambank_client.formats import Options, Reason
from streambank_client.formats.conversion import MAX_CONTENT_BYTES, MAX_INLINE_BYTES
from tests.client.formats.checks import losses, parts


def said(*blocks):
    return {"role": "user", "content": list(blocks)}


def image(count):
    return {"image": {"format": "png", "source": {"bytes": b"\x00" * count}}}


def size(content):
    return len(json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode())


def test_the_largest_content_fits_into_an_event():
    """A Content as large as the default allows is an event that the service takes, with the worst of ids."""
    (found,) = formats.to_contents([said({"text": "ü" * 60_000}, image(160_000))], "strands").contents
    room = MAX_CONTENT_BYTES - size(found.content)
    found.content["parts"][0]["text"] += "x" * room
    assert size(found.content) == MAX_CONTENT_BYTES
    event = {"content": found.content, "eventId": "\x01" * ingest.MAX_ID_BYTES, "eventTime": "2026-05-01T12:00:00Z"}
    (keyed,) = ingest.events({"events": [event]}, "s")
    assert keyed.size <= ingest.MAX_EVENT_BYTES


def test_media_up_to_the_limit_are_kept():
    """The limit counts raw bytes of one message's media together, in order; what is over it is reported."""
    assert len(parts(said(image(MAX_INLINE_BYTES)), "strands")) == 1
    over = said({"text": "x"}, image(MAX_INLINE_BYTES - 1), image(2), image(1))
    assert len(parts(over, "strands")) == 3
    assert losses([over], "strands") == [(0, 2, "image", "too_large")]
    assert losses([said(image(MAX_INLINE_BYTES), image(1)), said(image(1))], "strands") == [
        (0, 1, "image", "too_large")
    ]


def test_no_media_at_all():
    """A limit of 0 keeps words alone."""
    options = Options(max_inline_bytes=0)
    assert parts(said({"text": "x"}, image(1)), "strands", options) == [{"text": "x"}]


def test_words_are_kept_before_media():
    """Where not everything fits, media go first and long texts before short ones; order is kept."""
    options = Options(max_content_bytes=400)
    message = said(image(120), {"text": "a" * 30}, image(60), {"text": "b" * 500}, {"text": "c"})
    found = parts(message, "strands", options)
    assert [part.get("text", "image") for part in found] == ["a" * 30, "image", "c"]
    assert losses([message], "strands", options) == [(0, 0, "image", "too_large"), (0, 3, "text", "too_large")]


def test_a_message_that_is_too_large_alone_is_dropped():
    """A text longer than an event is dropped whole, and reported: half of what was said may say something else."""
    message = {"role": "user", "content": "x" * MAX_CONTENT_BYTES}
    assert losses([message], "openai") == [(0, 0, "text", "too_large"), (0, None, "message", "empty")]


def test_long_texts_are_kept_whole():
    """Ten thousand characters are nothing unusual."""
    text = "x" * 10_000
    assert parts({"role": "user", "content": text}, "openai") == [{"text": text}]


def nested(depth):
    return {"x": nested(depth - 1)} if depth else 0


def call(value):
    return {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t", "name": "f", "input": value}}]}


def test_depth():
    """What the service takes of nesting passes, one level more is reported, and a thousand levels do no harm."""
    deepest = formats.to_contents([call(nested(27))], "strands").contents[0].content
    assert ingest.events({"events": [{"content": deepest}]}, "s")
    for depth in (28, 900):
        assert losses([call(nested(depth))], "strands")[0] == (0, 0, "toolUse", "too_deep")
    text = {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": '{"a":' * 99}}]}
    assert losses([text], "openai") == [(0, 0, "tool_calls", "rewritten")]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, object(), b"x"])
def test_what_is_no_json_is_dropped(value):
    """Arguments that JSON cannot hold would stop the whole call: the part is dropped and reported instead."""
    message = call({"a": value})
    message["content"].append({"text": "x"})
    assert parts(message, "strands") == [{"text": "x"}]
    assert losses([message], "strands") == [(0, 0, "toolUse", "not_json")]


def test_half_a_surrogate_pair_is_replaced():
    """Half a character, as cut streams leave it, would stop the whole call: it is replaced, and that is reported."""
    message = {"role": "user", "content": "smile \ud83d"}
    assert parts(message, "openai") == [{"text": "smile \ufffd"}]
    assert losses([message], "openai") == [(0, 0, "text", "rewritten")]


@pytest.mark.parametrize("value", [-1, 1.5, True, "1"])
def test_limits_are_numbers_of_bytes(value):
    """Anything else is refused by name."""
    with pytest.raises(ValueError, match="max_inline_bytes"):
        Options(max_inline_bytes=value)
    with pytest.raises(ValueError, match="max_content_bytes"):
        Options(max_content_bytes=value)


def test_reasons_are_details_or_losses():
    """What came through in another form is a detail; a caller that counts losses leaves details out."""
    details = {one for one in Reason if formats.Dropped(0, 0, "k", one).is_detail}
    assert details == {Reason.NO_PLACE, Reason.REWRITTEN, Reason.REPEATED, Reason.GUESSED}
