"""Sessions and their events on the wire: both spellings in, camelCase out, maps as they were sent."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank.errors import InvalidArgument
from streambank.model.session import Session
from streambank.wire import session as wire
from streambank.wire import session_event as event_wire
from streambank.wire import session_filters

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SESSION = Session("s1", "u1", NOW, NOW, 10, 10)
# As Google's SDK sent it, with all that ADK gives it.
EVENT = {
    "author": "user",
    "invocationId": "1",
    "timestamp": "2026-01-01T00:00:00.000001+01:00",
    "content": {"parts": [{"text": "t", "part_key": None}], "role": "user"},
    "actions": {
        "skip_summarization": False,
        "state_delta": {"snake_key": 1, "camelKey": {"in_ner": None}, "gone": None},
        "artifact_delta": {"my_file.txt": 3},
        "requested_auth_configs": {"a_b": {"c_d": 1}},
        "transfer_agent": "other",
        "escalate": None,
    },
    "eventMetadata": {
        "custom_metadata": {"my_key": 1},
        "long_running_tool_ids": ["a"],
        "branch": "a.b",
        "turn_complete": True,
        "grounding_metadata": {"web_queries": []},
    },
    "errorCode": "E1",
    "errorMessage": "none",
    "rawEvent": {"in_vocation": {"x_y": None}},
}


def refused_field(call, *arguments):
    with pytest.raises(InvalidArgument) as refused:
        call(*arguments)
    return refused.value.field


def new_session(body):
    return wire.CreateSessionRequest.parse(body).fields()


def changed_session(body, mask):
    return wire.UpdateSessionRequest.parse(body).fields(mask)


def read_event(body):
    return event_wire.AppendEventRequest.parse(body).event()


# ---- sessions


def test_a_session_is_read_in_either_spelling():
    """Fields may be spelled in camelCase or snake_case; keys of the state and of labels are the caller's own."""
    state = {"snake_key": {"in_ner": None}, "camelKey": [1.5]}
    camel = {"userId": "u", "displayName": "d", "sessionState": state, "ttl": "60s", "labels": {"a_b": "c"}}
    snake = {"user_id": "u", "display_name": "d", "session_state": state, "ttl": "60s", "labels": {"a_b": "c"}}
    said = new_session(camel)
    assert said == new_session(snake)
    assert (said.user_id, said.display_name, said.state, said.labels) == ("u", "d", state, {"a_b": "c"})
    assert said.expiry == timedelta(seconds=60)


def test_a_session_is_shown_without_what_it_lacks():
    """Names are camelCase, and there is no null and no empty map."""
    assert wire.session(SESSION, "b") == {
        "name": "b/sessions/s1",
        "userId": "u1",
        "createTime": "2026-03-01T12:00:00Z",
        "updateTime": "2026-03-01T12:00:00Z",
    }
    full = replace(SESSION, display_name="d", state={"a_b": None}, labels={"x_y": "z"}, expires=NOW)
    shown = wire.session(full, "b")
    assert shown["sessionState"] == {"a_b": None}
    assert (shown["displayName"], shown["labels"], shown["expireTime"]) == ("d", {"x_y": "z"}, "2026-03-01T12:00:00Z")


def test_what_is_shown_may_be_sent_back():
    """A session that was read can be the body of an update: what only the service writes is passed over."""
    shown = wire.session(replace(SESSION, display_name="d"), "b")
    assert changed_session(shown, None).changed == {"display_name"}
    assert new_session(shown).display_name == "d"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"userId": None}, "userId"),
        ({"userId": ""}, "userId"),
        ({"userId": "u" * 513}, "userId"),
        ({"userId": 5}, "userId"),
        ({"displayName": "d" * 1_025}, "displayName"),
        ({"session_state": []}, "session_state"),
        ({"sessionState": {"a": "x" * 300_000}}, "sessionState"),
        ({"labels": {"a": 1}}, "labels.a"),
        ({"labels": {str(number): "" for number in range(65)}}, "labels"),
        ({"labels": {str(number): "x" * 300 for number in range(20)}}, "labels"),
        ({"ttl": "0s"}, "ttl"),
        ({"ttl": 5}, "ttl"),
        ({"ttl": "60s", "expireTime": "2030-01-01T00:00:00Z"}, "ttl"),
        ({"expire_time": "tomorrow"}, "expire_time"),
        ({"state": {}}, "state"),
        ({"user_id": "u"}, "user_id"),
    ],
)
def test_a_session_that_breaks_a_rule_is_refused(change, field):
    """The refusal names the field in the caller's spelling."""
    assert refused_field(new_session, {"userId": "u", **change}) == field


def nested(levels):
    value = 1
    for _ in range(levels):
        value = {"a": value}
    return value


def test_a_state_is_32_levels_deep_at_most():
    """Deeper ones are refused before anything tries to write them."""
    assert new_session({"userId": "u", "sessionState": nested(32)}).state == nested(32)
    for levels in (33, 900):
        assert refused_field(new_session, {"userId": "u", "sessionState": nested(levels)}) == "sessionState"


def test_ids_are_path_segments():
    """An id is 1 to 128 characters that stand in a path as they are; none is no id."""
    for name in ("a", "A.b_c-9", "9" * 128, "...", "a.."):
        assert wire.session_id(name) == name
    assert wire.session_id(None) is None
    assert wire.session_id("") is None
    for name in ("a b", "a/b", "a:b", "a#b", "ä", ".", "..", "9" * 129, "a\n"):
        assert refused_field(wire.session_id, name) == "sessionId"


# ---- updates


def test_a_mask_says_what_changes():
    """With a mask only what it names changes; what it names and the body lacks is cleared."""
    body = {"displayName": "d", "sessionState": {"a": 1}, "labels": {"k": "v"}}
    said = changed_session(body, "display_name,sessionState,expire_time")
    assert said.changed == {"display_name", "state", "expiry"}
    assert (said.display_name, said.state, said.expiry, said.labels) == ("d", {"a": 1}, None, {})
    assert changed_session(body, None).changed == {"display_name", "state", "labels"}
    assert changed_session(body, "*").changed == {"display_name", "state", "labels", "expiry"}
    assert changed_session({"userId": "other"}, "labels").user_id is None
    assert changed_session({"userId": "other"}, None).user_id == "other"


@pytest.mark.parametrize("mask", ["name", "state", "session_state.a", "display_name,", "*,labels"])
def test_a_mask_of_something_else_is_refused(mask):
    """What cannot change is named."""
    assert refused_field(changed_session, {}, mask) == "updateMask"


# ---- events


def test_an_event_keeps_what_is_inside_its_maps():
    """Fields are shown in camelCase, keys inside maps and values of parts as they were sent, nulls among them."""
    shown = event_wire.session_event(replace(read_event(EVENT), number=7), "b/sessions/s")
    assert shown == {
        "name": "b/sessions/s/events/7",
        "author": "user",
        "invocationId": "1",
        "timestamp": "2025-12-31T23:00:00.000001Z",
        "content": {"parts": [{"text": "t", "part_key": None}], "role": "user"},
        "actions": {
            "skipSummarization": False,
            "stateDelta": {"snake_key": 1, "camelKey": {"in_ner": None}, "gone": None},
            "artifactDelta": {"my_file.txt": 3},
            "requestedAuthConfigs": {"a_b": {"c_d": 1}},
            "transferAgent": "other",
        },
        "eventMetadata": {
            "customMetadata": {"my_key": 1},
            "longRunningToolIds": ["a"],
            "branch": "a.b",
            "turnComplete": True,
            "groundingMetadata": {"web_queries": []},
        },
        "errorCode": "E1",
        "errorMessage": "none",
        "rawEvent": {"in_vocation": {"x_y": None}},
    }


def test_an_event_is_shown_as_it_can_be_sent():
    """What is shown is read as the same event."""
    event = replace(read_event(EVENT), number=7)
    assert replace(read_event(event_wire.session_event(event, "b")), number=7) == event


@given(st.datetimes(timezones=st.just(UTC)))
def test_timestamps_keep_their_microseconds(moment):
    """Round trip: the instant that an agent gave is the instant that it reads."""
    event = read_event({**EVENT, "timestamp": moment.isoformat()})
    assert datetime.fromisoformat(str(event_wire.session_event(event, "b")["timestamp"])) == moment


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"author": None}, "author"),
        ({"author": ""}, "author"),
        ({"invocationId": None}, "invocationId"),
        ({"timestamp": None}, "timestamp"),
        ({"timestamp": "now"}, "timestamp"),
        ({"who": 1}, "who"),
        ({"content": "hi"}, "content"),
        ({"content": {"parts": {}}}, "content.parts"),
        ({"content": {"parts": [{"text": 5}]}}, "content.parts[0].text"),
        ({"content": {"role": 5}}, "content.role"),
        ({"content": {"text": "hi"}}, "content.text"),
        ({"actions": {"state": {}}}, "actions.state"),
        ({"actions": {"state_delta": [1]}}, "actions.state_delta"),
        ({"actions": {"artifactDelta": {"f": "x"}}}, "actions.artifactDelta.f"),
        ({"actions": {"escalate": "yes"}}, "actions.escalate"),
        ({"eventMetadata": {"long_running_tool_ids": [1]}}, "eventMetadata.long_running_tool_ids[0]"),
        ({"eventMetadata": {"partial": 1}}, "eventMetadata.partial"),
        ({"rawEvent": []}, "rawEvent"),
        ({"rawEvent": {"a": "x" * 350_000}}, ""),
        ({"rawEvent": nested(40)}, ""),
        ({"errorMessage": "\ud800"}, ""),
    ],
)
def test_an_event_that_breaks_a_rule_is_refused(change, field):
    """What would make a session unreadable to Google's SDK is refused, by its path in the caller's spelling."""
    assert refused_field(read_event, {**EVENT, **change}) == field


def test_contents_of_any_role_are_kept():
    """A tool's answer belongs to the conversation too; a content may be without a role or without parts."""
    for content in ({"role": "tool", "parts": []}, {"parts": [{"function_call": {"args": {"a_b": 1}}}]}, {}):
        assert read_event({**EVENT, "content": content}).content == content


# ---- filters and orders


def passes(text, **more):
    return session_filters.session_filter(text)(replace(SESSION, **more))


def test_sessions_are_filtered_by_user_name_and_labels():
    """The fields of a session filter are user_id, display_name and labels.KEY, in either spelling."""
    assert passes(None)
    assert passes('user_id="u1"')
    assert passes('userId = "u1" AND display_name="d"', display_name="d")
    assert not passes('user_id="u1" AND display_name="d"')
    assert passes('labels.k="v"', labels={"k": "v"})
    assert not passes('labels.k="v"', labels={"k": "w"})
    for text in ("state.a=1", "user_id", 'user_id="', "user_id ~~ 1"):
        assert refused_field(session_filters.session_filter, text) == "filter"


def test_a_filter_for_one_user_is_known():
    """What can only match one user's sessions says so, with quotes as ADK escapes them."""
    for text, user in (
        ('user_id="u"', "u"),
        ('userId="u" AND labels.k="v"', "u"),
        (r'user_id="we\"ird\\"', 'we"ird\\'),
        ('user_id="u" OR labels.k="v"', None),
        ('NOT user_id="u"', None),
        (None, None),
    ):
        assert session_filters.session_filter(text).user_id == user


def test_events_are_filtered_by_a_span():
    """The only field of an event filter is its timestamp, compared to the microsecond, as ADK writes it."""
    event = read_event(EVENT)
    assert session_filters.event_filter('timestamp>="2025-12-31T23:00:00.000001+00:00"')(event)
    assert not session_filters.event_filter('timestamp>="2025-12-31T23:00:00.000002+00:00"')(event)
    assert session_filters.event_filter('timestamp>"2025-01-01T00:00:00Z" AND timestamp<"2026-01-01T00:00:00Z"')(event)
    assert refused_field(session_filters.event_filter, 'author="user"') == "filter"


def test_orders_name_one_field():
    """A list is ordered by one of its fields, up unless desc follows."""
    orders = session_filters.SESSION_ORDERS
    assert session_filters.sort_key(" ", orders) is None
    assert str(session_filters.sort_key("createTime desc", orders)) == "create_time desc"
    assert str(session_filters.sort_key("update_time", orders)) == "update_time"
    for text in ("name", "update_time down", "create_time, update_time"):
        assert refused_field(session_filters.sort_key, text, orders) == "orderBy"
