import contextlib
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streambank.errors import InvalidArgument
from streambank.rules.filtering import Groups
from streambank.rules.filtering.groups import GroupOp
from streambank.wire.filter_groups import FilterGroups, filter_groups
from streambank.wire.model import RequestModel

NOON = datetime(2027, 1, 1, 12, 30, tzinfo=UTC)


def one(key, value, op="EQUAL", *, negate=False):
    return {"key": key, "value": value, "op": op, "negate": negate}


class Body(RequestModel):
    g: FilterGroups = []  # noqa: RUF012  pydantic copies it


def parse_groups(value):
    return filter_groups(Body.parse({"g": value}).g)


def groups(*filters):
    return parse_groups([{"filters": list(filters)}])


def test_groups_are_ors_of_ands():
    """Google's example: my_value and 1.23, or other."""
    found = parse_groups(
        [
            {
                "filters": [
                    {"key": "my_string_key", "value": {"string_value": "my_value"}},
                    {"key": "my_double_key", "value": {"doubleValue": 1.23}},
                ]
            },
            {"filters": [{"key": "my_string_key", "value": {"stringValue": "other"}, "op": None, "negate": False}]},
        ],
    )
    assert found.matches({"my_string_key": "my_value", "my_double_key": 1.23})
    assert found.matches({"my_string_key": "other"})
    assert not found.matches({"my_string_key": "my_value"})
    assert not found.matches({"my_double_key": 1.23})
    assert not found.matches({})


@pytest.mark.parametrize(
    ("value", "op", "stored", "holds"),
    [
        ({"doubleValue": 9}, "GREATER_THAN", 10.0, True),
        ({"doubleValue": 9}, "GREATER_THAN", 9.0, False),
        ({"doubleValue": 9}, "LESS_THAN", 8, True),
        ({"doubleValue": 10}, "EQUAL", 10, True),
        ({"doubleValue": 10}, "EQUAL", "10", False),
        ({"stringValue": "10"}, "", 10.0, False),
        ({"doubleValue": 9}, "GREATER_THAN", "99", False),
        ({"doubleValue": 1}, "EQUAL", True, False),
        ({"boolValue": True}, "EQUAL", 1.0, False),
        ({"boolValue": False}, "OPERATOR_UNSPECIFIED", False, True),
        ({"stringValue": "a"}, "GREATER_THAN", "b", True),
        ({"stringValue": ""}, "EQUAL", "", True),
        ({"timestampValue": "2027-01-01T13:30:00.900+01:00"}, "EQUAL", NOON, True),
        ({"timestampValue": "2027-01-01T12:30:00Z"}, "EQUAL", NOON + timedelta(milliseconds=999), True),
        ({"timestampValue": "2027-01-01T12:30:00Z"}, "GREATER_THAN", NOON + timedelta(milliseconds=999), False),
        ({"timestampValue": "2027-01-01T12:30:00.999Z"}, "LESS_THAN", NOON, False),
        ({"timestampValue": "2027-01-01T12:30:01Z"}, "LESS_THAN", NOON, True),
        ({"timestampValue": "2027-01-01T12:30:01Z"}, "EQUAL", NOON, False),
        ({"timestampValue": "2027-01-01T12:29:59.999Z"}, "GREATER_THAN", NOON, True),
        ({"timestampValue": "2027-01-01T12:30:00Z"}, "EQUAL", "2027-01-01T12:30:00Z", False),
        ({"stringValue": "2027-01-01T12:30:00Z"}, "EQUAL", NOON, False),
    ],
)
def test_types_do_not_mix_and_times_count_in_seconds(value, op, stored, holds):
    """C45: number 10 is not "10", true is not 1, a time is not its text; negation inverts exactly."""
    assert groups(one("k", value, op)).matches({"k": stored}) is holds
    assert groups(one("k", value, op, negate=True)).matches({"k": stored}) is not holds


@pytest.mark.parametrize("metadata", [{}, {"other": "v"}, {"k": None}])
def test_an_absent_key_passes_only_a_negated_filter(metadata):
    """There is nothing to compare with."""
    assert not groups(one("k", {"stringValue": "v"})).matches(metadata)
    assert groups(one("k", {"stringValue": "v"}, negate=True)).matches(metadata)


@pytest.mark.parametrize("value", [None, []])
def test_no_groups_match_everything(value):
    """Neither null nor an empty list asks for anything."""
    found = parse_groups(value)
    assert found == Groups()
    assert found.is_blank
    assert found.matches({})


FINE = one("k", {"stringValue": "v"})
VALUE = "must have exactly one of string_value, double_value, bool_value, timestamp_value"


@pytest.mark.parametrize(
    ("value", "path", "problem"),
    [
        ({}, "g", "must be a list"),
        ("x", "g", "must be a list"),
        ([[]], "g[0]", "must be an object"),
        ([{}], "g[0].filters", "is required"),
        ([{"filters": []}], "g[0].filters", "must have at least 1 elements"),
        ([{"filters": [FINE]}, {"filters": None}], "g[1].filters", "is required"),
        ([{"filters": [FINE], "or": []}], "g[0].or", "unknown field"),
        ([{"filters": [FINE] * 11}], "g[0].filters", "must have at most 10 elements, not 11"),
        ([{"filters": [FINE]}] * 11, "g", "must have at most 10 elements, not 11"),
        ([{"filters": [FINE | {"operator": "EQUAL"}]}], "g[0].filters[0].operator", "unknown field"),
        ([{"filters": [FINE | {"key": ""}]}], "g[0].filters[0].key", "must have at least 1 characters"),
        ([{"filters": [{"value": {"stringValue": "v"}}]}], "g[0].filters[0].key", "is required"),
        ([{"filters": [{"key": "k"}]}], "g[0].filters[0].value", "is required"),
        ([{"filters": [one("k", {})]}], "g[0].filters[0].value", VALUE),
        ([{"filters": [one("k", {"stringValue": "a", "boolValue": True})]}], "g[0].filters[0].value", VALUE),
        (
            [{"filters": [one("k", {"stringValue": "a", "string_value": "a"})]}],
            "g[0].filters[0].value.string_value",
            "given twice, in two spellings",
        ),
        ([{"filters": [one("k", {"intValue": 1})]}], "g[0].filters[0].value.intValue", "unknown field"),
        (
            [{"filters": [one("k", {"stringValue": 1})]}],
            "g[0].filters[0].value.stringValue",
            "must be",
        ),
        (
            [{"filters": [one("k", {"doubleValue": "1"})]}],
            "g[0].filters[0].value.doubleValue",
            "must be",
        ),
        (
            [{"filters": [one("k", {"doubleValue": True})]}],
            "g[0].filters[0].value.doubleValue",
            "must be",
        ),
        ([{"filters": [one("k", {"doubleValue": 10**400})]}], "g[0].filters[0].value.doubleValue", "must be a number"),
        (
            [{"filters": [one("k", {"doubleValue": float("nan")})]}],
            "g[0].filters[0].value.doubleValue",
            "must be a number",
        ),
        (
            [{"filters": [one("k", {"bool_value": 1})]}],
            "g[0].filters[0].value.bool_value",
            "must be",
        ),
        ([{"filters": [one("k", {"timestampValue": "2026-01-01"})]}], "g[0].filters[0].value.timestampValue", "time"),
        ([{"filters": [one("k", {"timestampValue": 5})]}], "g[0].filters[0].value.timestampValue", "must be"),
        ([{"filters": [one("k", {"boolValue": True}, "LESS_THAN")]}], "g[0].filters[0].op", "no order"),
        (
            [{"filters": [one("k", {"stringValue": "a"}, "regex")]}],
            "g[0].filters[0].op",
            "EQUAL, GREATER_THAN, LESS_THAN",
        ),
        (
            [{"filters": [one("k", {"stringValue": "a"}, ["EQUAL"])]}],
            "g[0].filters[0].op",
            "EQUAL, GREATER_THAN, LESS_THAN",
        ),
        ([{"filters": [FINE | {"negate": "false"}]}], "g[0].filters[0].negate", "must be true or false"),
    ],
)
def test_what_is_not_understood_is_refused(value, path, problem):
    """C42: an unknown operator, key or type is an error with its path; an empty group would match everything."""
    with pytest.raises(InvalidArgument) as refused:
        parse_groups(value)
    assert refused.value.field == path
    assert problem in refused.value.problem


typed = st.one_of(
    st.sampled_from(["a", "b"]).map(lambda text: ({"stringValue": text}, text)),
    st.sampled_from([1.0, 2.0]).map(lambda number: ({"doubleValue": number}, number)),
    st.booleans().map(lambda flag: ({"bool_value": flag}, flag)),
    st.integers(0, 2).map(
        lambda n: (
            {"timestampValue": (NOON + timedelta(seconds=n)).isoformat()},
            (NOON + timedelta(seconds=n)).astimezone(timezone(timedelta(hours=n))),
        )
    ),
)
keys = st.sampled_from("jk")


@st.composite
def filters(draw):
    value, _ = draw(typed)
    op = "EQUAL" if "bool_value" in value else draw(st.sampled_from(GroupOp))
    return one(draw(keys), value, op, negate=draw(st.booleans()))


@given(
    wire=st.lists(st.lists(filters(), min_size=1, max_size=3), min_size=1, max_size=3),
    metadata=st.dictionaries(keys, typed.map(lambda pair: pair[1])),
)
@settings(max_examples=100)
def test_groups_equal_their_parts(wire, metadata):
    """The whole is the OR over groups of the AND over filters, each of which its negation inverts."""
    alone = [[groups(one_filter).matches(metadata) for one_filter in group] for group in wire]
    whole = parse_groups([{"filters": group} for group in wire]).matches(metadata)
    assert whole == any(map(all, alone))
    flipped = wire[0][0] | {"negate": not wire[0][0]["negate"]}
    assert groups(flipped).matches(metadata) != alone[0][0]


@given(pair=typed)
@settings(max_examples=30)
def test_a_value_equals_itself(pair):
    """What was written under a key is found by the same value."""
    value, stored = pair
    assert groups(one("k", value)).matches({"k": stored})


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["filters", "key", "value", "op", "negate", "stringValue", "doubleValue", "x"]),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=12,
)


@given(value=json_values)
@settings(max_examples=200)
def test_any_json_is_understood_or_refused(value):
    """Nothing but InvalidArgument comes out, and nothing is understood that asks for nothing."""
    with contextlib.suppress(InvalidArgument):
        assert parse_groups(value).is_blank == (value is None or value == [])
