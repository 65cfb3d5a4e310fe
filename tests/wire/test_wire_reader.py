import base64
import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank.errors import InvalidArgument, PayloadTooLarge
from streambank.wire import reader

MINUTE = timedelta(minutes=1)
FIELDS = frozenset({"eventId", "eventTime", "scope"})


def refused(read, *arguments, **options):
    with pytest.raises(InvalidArgument) as error:
        read(*arguments, **options)
    return error.value


def parsed(text, *, is_base64=False):
    return reader.json_body(text, is_base64=is_base64)


# ---- bodies

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(value=json_values, is_ascii=st.booleans(), is_base64=st.booleans())
def test_any_json_is_read_as_it_was_written(value, is_ascii, is_base64):
    """A body comes back unchanged, escaped or not, in base64 or not."""
    text = json.dumps(value, ensure_ascii=is_ascii)
    sent = base64.b64encode(text.encode()).decode() if is_base64 else text
    assert parsed(sent, is_base64=is_base64) == value


@pytest.mark.parametrize(
    "text",
    ["", "{", "{]", "nul", "{'a': 1}", "NaN", "[Infinity]", "[-Infinity]", "[1e999]", "[-1e999]", "{} {}", "[01]"],
)
def test_what_is_not_json_is_refused(text):
    """Nothing that only Python takes for JSON is taken, numbers without a value neither."""
    assert refused(parsed, text).field == ""


def test_no_body_is_no_json():
    """A request without a body is refused, not taken for an empty one."""
    assert "not valid JSON" in refused(reader.json_body, None, is_base64=False).problem


@pytest.mark.parametrize("raw", ["%%%", "e30", "e30=\n", "e30=="])
def test_broken_base64_is_refused(raw):
    """API Gateway never sends it, and nobody guesses what it might have been."""
    assert "not valid JSON" in refused(parsed, raw, is_base64=True).problem


def test_bytes_that_are_no_utf8_are_refused():
    """A body in another encoding is refused."""
    raw = base64.b64encode('"é"'.encode("latin-1")).decode()
    assert refused(parsed, raw, is_base64=True).field == ""


def test_half_a_surrogate_pair_in_a_raw_body_is_refused():
    """Text that has no bytes in UTF-8 is no JSON."""
    assert refused(parsed, '"\ud800"').field == ""


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_nesting_out_of_all_proportion_is_refused(opening):
    """A body that would exhaust the stack is bad input, not a crash."""
    assert "not valid JSON" in refused(parsed, opening * 100_000).problem


@pytest.mark.parametrize("is_base64", [False, True])
def test_a_body_ends_at_four_megabytes(is_base64):
    """Exactly 4,000,000 bytes are read, one more is too large; base64 counts by what it stands for."""

    def sent(size):
        text = '"' + "x" * (size - 2) + '"'
        return base64.b64encode(text.encode()).decode() if is_base64 else text

    assert len(parsed(sent(4_000_000), is_base64=is_base64)) == 3_999_998
    with pytest.raises(PayloadTooLarge, match="4000001 bytes"):
        parsed(sent(4_000_001), is_base64=is_base64)


def test_the_size_of_a_body_counts_bytes():
    """Two million letters of two bytes each are beyond 4 MB with their quotes."""
    with pytest.raises(PayloadTooLarge):
        parsed('"' + "é" * 2_000_000 + '"')


# ---- messages


def test_both_spellings_are_one_field():
    """A field is found in camelCase and in snake_case, with its path as it was spelled."""
    assert reader.object_fields({"event_id": "a"}, "x", FIELDS) == {"eventId": ("x.event_id", "a")}
    assert reader.object_fields({"eventId": "a"}, "x", FIELDS) == {"eventId": ("x.eventId", "a")}


def test_null_counts_as_absent():
    """proto3 JSON writes null for what is not there."""
    assert reader.object_fields({"eventId": None, "scope": 0}, "", FIELDS) == {"scope": ("scope", 0)}


@pytest.mark.parametrize("name", ["event_ID", "EventId", "events", "eventid", "", "event id", "event-id"])
def test_unknown_fields_are_named_as_the_caller_spelled_them(name):
    """A typing error is refused by its own name, with a null value too."""
    error = refused(reader.object_fields, {name: None}, "content", FIELDS)
    assert (error.field, error.problem.split(";")[0]) == (f"content.{name}", "unknown field")


def test_a_field_in_two_spellings_is_refused():
    """Nobody can say which of the two was meant, also where one is null."""
    error = refused(reader.object_fields, {"eventId": None, "event_id": "a"}, "", FIELDS)
    assert (error.field, error.problem) == ("event_id", "given twice, in two spellings")


@pytest.mark.parametrize("value", [None, [], "", 0, True])
def test_a_message_is_an_object(value):
    """Anything else is refused under the path of the message."""
    assert refused(reader.object_fields, value, "content", FIELDS).field == "content"


@given(words=st.lists(st.from_regex(r"[a-z][a-z0-9]*", fullmatch=True), min_size=1, max_size=4))
def test_camel_joins_words(words):
    """snake_case becomes camelCase, and camelCase stays as it is."""
    spelled = words[0] + "".join(word[0].upper() + word[1:] for word in words[1:])
    assert reader.camel("_".join(words)) == spelled
    assert reader.camel(spelled) == spelled


def test_map_keys_are_never_respelled():
    """A map's keys are the caller's own: user_id and userId are two."""
    value = {"user_id": "a", "userId": "b"}
    assert reader.string_map(value, "labels", most_bytes=9) == value


@pytest.mark.parametrize(
    ("value", "field"),
    [([], "m"), ({"a": 1}, "m.a"), ({"a": None}, "m.a"), ({"a": "toolong"}, "m.a"), ({"longkey": ""}, "m")],
)
def test_a_string_map_holds_strings_only(value, field):
    """A value that is no string, or too long, is refused by its key."""
    assert refused(reader.string_map, value, "m", most_bytes=5).field == field


# ---- text and numbers


def test_text_is_measured_in_bytes():
    """The limits of a string count bytes of UTF-8, and both ends are inside."""
    assert reader.text("éé", "f", least_bytes=4, most_bytes=4) == "éé"
    assert "not 4" in refused(reader.text, "éé", "f", most_bytes=3).problem
    assert "not 4" in refused(reader.text, "éé", "f", least_bytes=5, most_bytes=9).problem


@pytest.mark.parametrize("value", [None, 1, True, [], {}])
def test_text_is_a_string(value):
    """No other value is turned into text."""
    assert refused(reader.text, value, "f", most_bytes=9).problem == "must be a string"


@pytest.mark.parametrize("value", ["\ud800", "a\udfffb", "\udc00\ud800"])
def test_half_a_surrogate_pair_is_no_text(value):
    """JSON can spell it, but no store can hold it."""
    assert "surrogate" in refused(reader.text, json.loads(json.dumps(value)), "f", most_bytes=99).problem


@pytest.mark.parametrize(("value", "number"), [(7, 7), ("7", 7), (7.0, 7), ("0", 0), ("-3", -3), (-3, -3), (1e2, 100)])
def test_whole_numbers_have_three_spellings(value, number):
    """proto3 JSON writes an integer as a number, as a string, or with a zero fraction."""
    assert reader.integer(value, "f", least=-9, most=100) == number


@pytest.mark.parametrize("value", [True, False, None, 7.5, "7.0", "", " 7", "7 ", "+7", "1_0", "0x7", [], {}, 1e-9])
def test_what_is_no_whole_number(value):
    """A boolean is no number, nor is anything that has to be guessed."""
    assert refused(reader.integer, value, "f", least=-9, most=99).problem == "must be a whole number"


@pytest.mark.parametrize("value", [0, 11, "11", 1e300, 10**400, -1, "999999999999999999"])
def test_numbers_have_limits(value):
    """A number outside its limits is refused with both of them; the limits themselves are inside."""
    assert [reader.integer(end, "f", least=1, most=10) for end in (1, 10)] == [1, 10]
    assert "from 1 to 10" in refused(reader.integer, value, "f", least=1, most=10).problem


@pytest.mark.parametrize("value", [0, 1, "true", None, [], ""])
def test_booleans_are_true_or_false(value):
    """Nothing else is taken for a truth value."""
    assert refused(reader.boolean, value, "f").field == "f"


# ---- durations


def span(text, *, least=timedelta(0), most=timedelta(days=36_525), multiple_of=None):
    return reader.duration(text, "f", least=least, most=most, multiple_of=multiple_of)


@given(seconds=st.integers(0, 3_155_760_000), micros=st.integers(0, 999_999))
def test_durations_are_read_to_the_microsecond(seconds, micros):
    """A protobuf duration comes back as the same span, with six digits or nine."""
    wanted = timedelta(seconds=seconds, microseconds=micros)
    if wanted <= timedelta(days=36_525):
        assert span(f"{seconds}.{micros:06}s") == span(f"{seconds}.{micros:06}000s") == wanted
    assert span(f"{seconds}s") == timedelta(seconds=seconds)


def test_a_short_fraction_is_filled_up():
    """Half a second is half a second."""
    assert span("1.5s") == timedelta(seconds=1.5)
    assert span("0.000000001s") == timedelta(0)


@pytest.mark.parametrize(
    "value",
    [
        "300",
        "s",
        "",
        "-60s",
        "+60s",
        "5m",
        "1e2s",
        " 60s",
        "60s ",
        "60s\n",
        "1.s",
        ".5s",
        "1.0000000000s",
        "60S",
        300,
        None,
        True,
        "9999999999999s",
    ],
)
def test_what_is_no_duration(value):
    """Only seconds with an s are a duration."""
    assert refused(span, value).problem.startswith("must be a duration")


@pytest.mark.parametrize(
    ("value", "is_legal"),
    [
        ("60s", True),
        ("59s", False),
        ("61s", False),
        ("90s", False),
        ("120s", True),
        ("60.0s", True),
        ("60.5s", False),
        ("180s", True),
        ("240s", False),
    ],
)
def test_durations_have_limits_and_a_grain(value, is_legal):
    """Both ends are inside, and the span is a multiple of the grain."""
    limits = {"least": MINUTE, "most": 3 * MINUTE, "multiple_of": MINUTE}
    if is_legal:
        assert span(value, **limits) == timedelta(seconds=float(value[:-1]))
    else:
        assert refused(span, value, **limits).field == "f"


# ---- instants

offsets = st.integers(-23 * 60 - 59, 23 * 60 + 59)
moments = st.datetimes(datetime(2, 1, 1), datetime(9998, 12, 31))


@given(moment=moments, offset=offsets)
def test_instants_keep_the_offset_they_were_written_in(moment, offset):
    """A time with any offset comes back as the same instant under the same offset."""
    written = moment.replace(tzinfo=timezone(timedelta(minutes=offset)))
    found = reader.instant(written.isoformat(), "f")
    assert found == written
    assert found.utcoffset() == written.utcoffset()


@pytest.mark.parametrize(
    ("text", "micros"),
    [
        ("2026-01-02T03:04:05Z", 0),
        ("2026-01-02t03:04:05.5z", 500_000),
        ("2026-01-02T03:04:05.123456789Z", 123_456),
        ("2026-01-02T03:04:05.000678+00:00", 678),
        ("2026-01-02T05:04:05.1-00:00", 100_000),
    ],
)
def test_instants_are_read_to_the_microsecond(text, micros):
    """One to nine digits of a fraction are taken; what is beyond a microsecond is cut, never rounded."""
    assert reader.instant(text, "f").microsecond == micros


def test_a_leap_day_is_a_day():
    """The 29th of February exists in leap years only."""
    assert reader.instant("2028-02-29T00:00:00Z", "f") == datetime(2028, 2, 29, tzinfo=UTC)
    assert reader.instant("2000-02-29T00:00:00Z", "f") == datetime(2000, 2, 29, tzinfo=UTC)
    for text in ("2026-02-29T00:00:00Z", "2100-02-29T00:00:00Z"):
        assert "calendar" in refused(reader.instant, text, "f").problem


@pytest.mark.parametrize(
    "text",
    [
        "2026-01-01T24:00:01Z",
        "2026-01-01T25:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-04-31T00:00:00Z",
        "2026-01-01T00:60:00Z",
        "2026-01-01T00:00:60Z",
        "0000-01-01T00:00:00Z",
        "2026-01-01T00:00:00+24:00",
        "0001-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-00:01",
    ],
)
def test_what_the_calendar_does_not_have(text):
    """A day, hour, minute, second or offset that does not exist, or leaves the years 1 to 9999 in UTC, is refused."""
    assert refused(reader.instant, text, "f").field == "f"


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"])
def test_the_first_and_the_last_instant(text):
    """The years 1 to 9999 are inside."""
    assert reader.instant(text, "f").year in (1, 9999)


@pytest.mark.parametrize(
    "value",
    [
        "2026-01-01",
        "2026-01-01T00:00:00",
        "2026-01-01 00:00:00Z",
        "20260101T000000Z",
        "2026-1-1T00:00:00Z",
        "2026-01-01T00:00Z",
        "2026-01-01T00:00:00.Z",
        "2026-01-01T00:00:00,5Z",
        "2026-01-01T00:00:00+0100",
        "2026-01-01T00:00:00+01",
        "2026-01-01T00:00:00.1234567890Z",
        "2026-W01-1T00:00:00Z",
        "2026-01-01T00:00:00Z\n",
        "",
        0,
        1767225600,
        None,
    ],
)
def test_what_is_no_rfc_3339_time(value):
    """A time needs its date, its seconds and an offset, and nothing else."""
    assert refused(reader.instant, value, "f").problem.startswith("must be a time")


# ---- depth


@given(levels=st.integers(0, 40), limit=st.integers(0, 40), is_list=st.booleans())
def test_depth_counts_levels(levels, limit, is_list):
    """A value nested as deep as the limit passes, one level more does not; width is no depth."""
    value = "leaf"
    for _ in range(levels):
        value = [1, value, [] if levels > 1 else 2] if is_list else {"a": value, "b": 1}
    assert reader.depth(value, limit) is (levels <= limit)
