"""Google's Contents in both spellings."""

import pytest

from streambank_client import formats
from tests.client.formats.checks import THINKING, assert_round_trip, losses, parts

SNAKE = {
    "role": "model",
    "parts": [
        {"text": "a", "thought": None, "inline_data": None},
        {"inline_data": {"mime_type": "image/png", "data": b"\xff\xfe", "display_name": "n"}},
        {"file_data": {"mime_type": "video/mp4", "file_uri": "gs://b/k"}, "video_metadata": {"start_offset": "1s"}},
        {"function_call": {"id": "c", "name": "f", "args": {"snake_key": {"other_key": 1}}, "partial_args": None}},
        {"executable_code": {"code": "1", "language": "PYTHON"}},
        {"code_execution_result": {"outcome": "OUTCOME_OK", "output": "1"}},
    ],
}


def test_snake_case_becomes_camel_case():
    """Fields are respelled, nulls left out, bytes made base64; keys in the caller's own maps stay."""
    assert parts(SNAKE, "google") == [
        {"text": "a"},
        {"inlineData": {"mimeType": "image/png", "data": "//4=", "displayName": "n"}},
        {"fileData": {"mimeType": "video/mp4", "fileUri": "gs://b/k"}, "videoMetadata": {"startOffset": "1s"}},
        {"functionCall": {"id": "c", "name": "f", "args": {"snake_key": {"other_key": 1}}}},
        {"executableCode": {"code": "1", "language": "PYTHON"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
    ]
    assert losses([SNAKE], "google") == []


def test_responses_with_media():
    """Media of a function's response are respelled too, its own map is not."""
    said = {
        "name": "f",
        "response": {"my_key": 1},
        "parts": [{"inline_data": {"mime_type": "image/png", "data": b"a"}}],
    }
    found = parts({"role": "user", "parts": [{"function_response": said}]}, "google")
    assert found[0]["functionResponse"] == {
        "name": "f",
        "response": {"my_key": 1},
        "parts": [{"inlineData": {"mimeType": "image/png", "data": "YQ=="}}],
    }


@pytest.mark.parametrize(
    ("role", "found"), [("user", "user"), ("model", "model"), (None, "user"), ("", "user"), ("function", "user")]
)
def test_roles(role, found):
    """A Content without a role is the user's, as the service takes it; results of older models too."""
    (content,) = formats.to_contents([{"role": role, "parts": [{"text": "x"}]}], "google").contents
    assert content.content["role"] == found


@pytest.mark.parametrize(
    ("part", "kind", "reason"),
    [
        ({"text": " "}, "text", "blank"),
        ({"text": "hm", "thought": True}, "thought", "reasoning"),
        ({"thought_signature": b"x"}, "part", "malformed"),
        ({}, "part", "malformed"),
        ({"inline_data": {"mime_type": "image/png", "data": "%"}}, "inlineData", "malformed"),
        ({"inline_data": {"mime_type": "image/png", "data": ""}}, "inlineData", "blank"),
        ({"function_call": {"name": "f", "args": {"a": float("nan")}}}, "functionCall", "not_json"),
    ],
)
def test_parts_that_are_dropped(part, kind, reason):
    """Blank, empty and unsendable parts and thoughts are reported, and with them an empty Content."""
    content = {"role": "model", "parts": [part]}
    assert losses([content], "google") == [(0, 0, kind, reason), (0, None, "message", "empty")]


def test_thoughts_are_kept_as_they_are_where_they_are_wanted():
    """A thought of Google's needs no conversion."""
    content = {"role": "model", "parts": [{"text": "hm", "thought": True, "thoughtSignature": "AA=="}]}
    assert parts(content, "google", THINKING) == content["parts"]


def test_contents_come_back():
    """Parts that are known and parts that are not survive the way there and back."""
    camel = formats.to_contents([SNAKE], "google").contents[0].content
    url_safe = {"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": "__4="}}]}
    later = {"role": "user", "parts": [{"somethingNew": {"aField": [1]}}]}
    assert_round_trip([camel, url_safe, later], "google")


def test_one_field_in_two_spellings_is_refused():
    """It would be unclear which one holds."""
    with pytest.raises(ValueError, match=r"messages\[0\].parts\[0\].inlineData: is given in two spellings"):
        formats.to_contents([{"parts": [{"inlineData": {}, "inline_data": {}}]}], "google")
