"""Chat histories on the wire: what is taken, what is refused, how one is shown."""

import base64
import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank.errors import InvalidArgument, PayloadTooLarge, PreconditionFailed
from streambank.model.chat import ANYTHING, ChatHistory, Expectation
from streambank.wire import chat, http

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def read(body):
    return chat.StoreChatHistoryRequest.parse(body).draft()


def refused(body):
    with pytest.raises(InvalidArgument) as refusal:
        read(body)
    return refusal.value.field


def nested(levels):
    return {"a": nested(levels - 1)} if levels else {}


@given(st.text(min_size=1).filter(lambda text: len(text.encode()) <= 512))
def test_any_text_names_a_conversation(text):
    """The id is taken as it is, to the last character."""
    assert chat.conversation_id({"conversationId": text}) == text


@pytest.mark.parametrize(
    "query", [{}, {"conversationId": ""}, {"conversationId": "x" * 513}, {"conversationId": "ü" * 257}]
)
def test_an_id_has_1_to_512_bytes(query):
    """No id, an empty one and a longer one are refused by the parameter's name."""
    with pytest.raises(InvalidArgument) as refusal:
        chat.conversation_id(query)
    assert refusal.value.field == "conversationId"
    assert chat.conversation_id({"conversationId": "x" * 512}) == "x" * 512


@pytest.mark.parametrize(
    ("if_match", "if_none_match", "expected"),
    [
        (None, None, ANYTHING),
        ("*", None, Expectation(must_exist=True)),
        (' "v7" ', None, Expectation(must_exist=True, version="v7")),
        (None, "*", Expectation(must_be_absent=True)),
    ],
)
def test_headers_say_what_is_expected(if_match, if_none_match, expected):
    """No header expects nothing; If-Match a version or any; If-None-Match none."""
    assert chat.expectation(if_match, if_none_match) == expected


@pytest.mark.parametrize(
    ("if_match", "if_none_match"),
    [
        ("v7", None),
        ('W/"v7"', None),
        ('"a", "b"', None),
        ("", None),
        ('""', None),
        (None, '"v7"'),
        (None, ""),
        ("*", "*"),
    ],
)
def test_headers_that_are_not_understood_are_refused(if_match, if_none_match):
    """A condition is never passed over: weak etags, lists, text without quotes, two headers are 400."""
    with pytest.raises(InvalidArgument):
        chat.expectation(if_match, if_none_match)


@given(st.sampled_from([None, "v1", "v2"]), st.sampled_from([None, "v1"]), st.booleans(), st.booleans())
def test_an_expectation_holds_for_what_it_says(found, version, must_exist, must_be_absent):
    """A version holds for itself alone, "must exist" for any, "must be absent" for none, nothing for all."""
    holds = Expectation(must_exist=must_exist, must_be_absent=must_be_absent, version=version).holds(found)
    if must_be_absent:
        assert holds is (found is None)
    elif version:
        assert holds is (found == version)
    else:
        assert holds is (not must_exist or found is not None)


def test_messages_are_their_callers_own():
    """Spelling, nulls and order inside messages stay; only the fields around them are read."""
    messages = [{"a_b": None, "cD": [1, {"e_f": 0.5}]}, {}]
    draft = read({"messages": messages, "format": "koog-1", "ttl": "3600s"})
    assert list(draft.messages) == messages
    assert (draft.format, draft.ttl) == ("koog-1", timedelta(hours=1))
    assert read({"messages": []}).messages == ()
    assert draft.at(NOW, conversation_id="c", version="v").expires == NOW + timedelta(hours=1)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ([], ""),
        ({}, "messages"),
        ({"messages": None}, "messages"),
        ({"messages": {}}, "messages"),
        ({"messages": [{}, "x"]}, "messages[1]"),
        ({"messages": [nested(33)]}, "messages[0]"),
        ({"messages": [{}] * 10_001}, "messages"),
        ({"messages": [{"a": "\ud800"}]}, "messages"),
        ({"messages": [], "format": "f" * 65}, "format"),
        ({"messages": [], "format": 1}, "format"),
        ({"messages": [], "ttl": "0s"}, "ttl"),
        ({"messages": [], "ttl": 60}, "ttl"),
        ({"messages": [], "etag": "x"}, "etag"),
    ],
)
def test_refusals_name_the_field(body, field):
    """What breaks a rule is refused by its name, and quotes no message."""
    assert refused(body) == field
    assert read({"messages": [nested(32)] * 2})


def test_a_body_may_have_5_mib():
    """This route takes more than others; a byte more is 413."""
    text = "x" * (chat.MAX_BODY_BYTES - len(json.dumps({"messages": [{"t": ""}]})))
    body = json.dumps({"messages": [{"t": text}]})
    assert len(read(http.body({"body": body}, most_bytes=chat.MAX_BODY_BYTES)).messages) == 1
    with pytest.raises(PayloadTooLarge):
        http.body({"body": body + " "}, most_bytes=chat.MAX_BODY_BYTES)
    with pytest.raises(PayloadTooLarge):
        http.body({"body": body})


@pytest.mark.parametrize("text", ['"' * 2_300_000, "\n" * 2_300_000, "\\" * 2_300_000, "\U0001d518" * 1_150_000])
def test_what_could_not_be_shown_is_not_stored(text):
    """What would fit into no reply of Lambda, neither escaped nor in base64, is refused when it is stored."""
    with pytest.raises(PayloadTooLarge):
        read({"messages": [{"t": text}]})


@given(st.lists(st.dictionaries(st.text(), st.text() | st.integers() | st.none(), max_size=3), max_size=3))
def test_what_is_stored_fits_into_a_reply_by_its_count(messages):
    """The size that is checked is that of the shorter form of the messages inside Lambda's reply, to the byte."""
    raw = json.dumps(messages, ensure_ascii=False, separators=(",", ":"))
    assert http.sent_bytes(raw) == min(len(json.dumps(raw)), len(base64.b64encode(raw.encode())))


def test_a_history_is_shown_with_its_version():
    """A loaded history has everything; a store answers with all but the messages; the unknown has neither."""
    history = ChatHistory("c", ({"a": None},), "openai", "v7", NOW, NOW + timedelta(seconds=1))
    about = {
        "conversationId": "c",
        "etag": '"v7"',
        "updateTime": "2026-03-01T12:00:00Z",
        "expireTime": "2026-03-01T12:00:01Z",
    }
    assert chat.stored(history) == about
    assert chat.chat_history(history) == {**about, "messages": [{"a": None}], "format": "openai"}
    assert chat.unknown("c") == {"conversationId": "c", "messages": []}


def test_a_failed_precondition_of_a_version_is_412():
    """Whoever expects another version is answered with the status that HTTP has for it."""
    reply = http.error_response(PreconditionFailed("no"))
    assert reply["statusCode"] == 412
    assert json.loads(reply["body"])["error"]["status"] == "FAILED_PRECONDITION"
