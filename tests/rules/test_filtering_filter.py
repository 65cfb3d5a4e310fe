import json
from datetime import UTC, datetime, timedelta

import pytest

from streambank.errors import InvalidArgument
from streambank.rules.filtering import Filter, Kind, parse

NOON = datetime(2026, 1, 1, 12, 0, 0, 678, tzinfo=UTC)
FIELDS = {
    "fact": Kind.TEXT,
    "create_time": Kind.TIMESTAMP,
    "expire_time": Kind.TIMESTAMP,
    "revision": Kind.NUMBER,
    "scope": Kind.TEXT_MAP,
    "labels": Kind.TEXT_MAP,
    "topics": Kind.LIST,
    "topics.managed_memory_topic": Kind.LIST,
    "topics.custom_memory_topic_label": Kind.LIST,
    "metadata": Kind.METADATA,
    "pinned": Kind.BOOLEAN,
    "archived": Kind.BOOLEAN,
}
MEMORY = {
    "fact": "Has Allergies to nuts*",
    "create_time": NOON,
    "revision": 3,
    "scope": {"user_id": "123", "app": "x"},
    "labels": {"data_source": "321", "a-b": "", "d.e": "dot"},
    "topics": ["USER_PREFERENCES", "custom-label"],
    "topics.managed_memory_topic": ["USER_PREFERENCES"],
    "topics.custom_memory_topic_label": ["custom-label"],
    "metadata": {"rank": 10.0, "id": "10", "ok": True, "when": NOON, "day": "2026-01-01"},
    "pinned": True,
    "archived": False,
}
SCOPE = json.dumps(json.dumps({"app": "x", "user_id": "123"}))

MATCHING = [
    # The contract's own (section 7), Google's pages and its recorded calls.
    'fact=~".*llergies.*" AND create_time>="2026-01-01T00:00:00Z"',
    'scope.user_id="123"',
    "pinned=true AND pinned!=false AND pinned:*",
    "archived=false AND NOT archived=true AND NOT archived:*",
    "scope.user_id=123",
    f"scope={SCOPE}",
    'labels.data_source="321"',
    "topics.managed_memory_topic: USER_PREFERENCES OR topics.custom_memory_topic_label: other",
    "topics.managedMemoryTopic:USER_PREFERENCES",
    "topics:custom-label",
    "create_time>=1767268800000000",
    'create_time>"1767268800000000"',
    # Text.
    'fact="Has Allergies to nuts*"',
    "fact='Has Allergies to nuts*'",
    'fact!="has allergies to nuts*"',
    'fact:"ALLERGIES"',
    "fact:nut",
    "fact:*",
    'fact=~"nuts\\*$"',
    'fact=~"nuts\\\\*$"',
    'fact=~"(?i)HAS"',
    'fact!~"^Allergies"',
    # Times, in every spelling and offset.
    "createTime<2026-01-02",
    "create_time>2026-01-01",
    "create_time='2026-01-01T17:30:00.000678+05:30'",
    "create_time=2026-01-01T12:00:00.000678999Z",
    "create_time!=2026-01-01T12:00:00Z",
    "create_time:* AND NOT expire_time:*",
    # Numbers.
    "revision=3",
    "revision>=3.0 AND revision<31e-1",
    "revision>-4",
    # Maps.
    "scope:user_id",
    "scope.user_id:123",
    "scope.userId=1 OR scope.user_id=123",
    'scope.user_id=~"^\\d+$"',
    "scope.user_id:*",
    'labels."a-b"=""',
    'labels.a-b:""',
    'labels."d.e"=dot',
    f"scope!={json.dumps(json.dumps({'user_id': '123'}))}",
    # Typed metadata.
    "metadata.rank=10",
    "metadata.rank>9",
    'metadata.id="10"',
    "metadata.ok=true",
    "metadata.ok:true",
    "metadata.ok!=false",
    'metadata.when="2026-01-01T12:00:00Z"',
    "metadata.when>2026-01-01",
    'metadata.day="2026-01-01"',
    'metadata.id=~"^1"',
    "metadata:rank",
    "metadata.rank:*",
    'metadata.rank!="10"',
]
FAILING = [
    "pinned=false",
    "archived:*",
    "scope.user_id=12",
    'scope="{\\"user_id\\": \\"123\\"}"',
    'scope.user_id:"12"',
    "scope:123",
    "scope.user_id!=123",
    'fact="Has*"',
    'fact="has allergies to nuts*"',
    'fact=~"^nuts"',
    "topics:custom",
    "topics:user_preferences",
    "create_time=2026-01-01",
    "create_time<2026-01-01T12:00:00Z",
    "metadata.rank=9",
    'metadata.rank="10"',
    "metadata.id=10",
    'metadata.rank>"9"',
    "metadata.rank=~1",
    'metadata.rank!~"x"',
    "metadata.ok=1",
    'metadata.ok="true"',
    "metadata.day=2026-01-01",
    "metadata.when>2026-01-01T12:00:00Z",
]


@pytest.mark.parametrize("text", MATCHING)
def test_a_filter_matches(text):
    """Each of these holds of the memory above, and its negation does not."""
    assert parse(text, FIELDS).matches(MEMORY)
    assert not parse(f"NOT ({text})", FIELDS).matches(MEMORY)


@pytest.mark.parametrize("text", FAILING)
def test_a_filter_does_not_match(text):
    """Each of these fails of the memory above: types are not converted, `*` is a character, times are instants."""
    assert not parse(text, FIELDS).matches(MEMORY)
    assert parse(f"-({text})", FIELDS).matches(MEMORY)


@pytest.mark.parametrize(
    "text",
    [
        "expire_time>2020-01-01",
        "expire_time!=2020-01-01",
        "scope.team=x",
        "scope.team!=x",
        'scope.team!~"x"',
        "metadata.color!=red",
        "metadata.color<red",
        "labels:color",
        "metadata.color:*",
    ],
)
def test_what_is_absent_matches_no_comparison(text):
    """Not even `!=`; so only NOT reaches values that are not there."""
    for values in (MEMORY, {}, {"scope": None, "metadata": None, "labels": {}}):
        assert not parse(text, FIELDS).matches(values)
        assert parse(f"NOT {text}", FIELDS).matches(values)


@pytest.mark.parametrize("text", ["topics:*", "scope:*", "fact:*"])
def test_what_is_empty_is_absent_to_a_star(text):
    """AIP-160's presence: an empty list, map or text is not there."""
    assert parse(text, FIELDS).matches(MEMORY)
    assert not parse(text, FIELDS).matches({"topics": [], "scope": {}, "fact": ""})


@pytest.mark.parametrize("text", ["", "  ", "\n"])
def test_a_blank_filter_matches_everything(text):
    """No filter is no filter; whoever deletes can tell."""
    found = parse(text, FIELDS)
    assert found.is_blank
    assert found.matches({})
    assert str(found) == ""
    assert not parse("fact=a", FIELDS).is_blank


REFUSED = [
    ("fact", 5, "an operator is expected"),
    ("fact=", 6, "a value is expected"),
    ("(fact=a", 8, "closing parenthesis"),
    ("fact=a)", 7, "not ')'"),
    ("fact == a", 7, "not '='"),
    ('fact="open', 6, "not closed"),
    ("fact=AND", 6, "not 'AND'"),
    ("NOT NOT fact=a", 5, "not 'NOT'"),
    ("fact=a OR", 10, "a comparison is expected"),
    ("prod", 5, "an operator is expected"),
    ("matches(fact)", 8, "not '('"),
    ("fact=a ]", 8, "not ']'"),
    ('scope={"a":"b"}', 7, "not '{'"),
    ("  color=red", 3, "no field 'color', only fact"),
    ("fact=a user_id=1", 8, "no field 'user_id'"),
    ("fact.x=1", 1, "fact has no field 'x'"),
    ("scope.a.b=1", 1, "in quotes"),
    ("fact<a", 5, "fact does not support <, only =, !=, =~, !~ and :"),
    ("topics=a", 7, "topics does not support =, only :"),
    ("scope.a>1", 8, "scope.a does not support >"),
    ("metadata=a", 9, "metadata does not support =, only :"),
    ("create_time:2026-01-01", 12, "create_time does not support :"),
    ('revision="3"', 10, "number without quotes"),
    ("revision=three", 10, "number without quotes"),
    ("revision=1e999", 10, "too large for a double"),
    ("metadata.a=1e999", 12, "too large for a double"),
    ("create_time>yesterday", 13, "must be a time"),
    ("pinned=yes", 8, "must be true or false"),
    ('pinned="true"', 8, "without quotes"),
    ("pinned:true", 7, "pinned does not support :, only = and !="),
    ("pinned<true", 7, "pinned does not support <"),
    ("create_time>2026-02-30", 13, "must be a time"),
    ('create_time>"2026-01-01T00:00:00"', 13, "must be a time"),
    ("create_time>999999999999999999", 13, "must be a time"),
    ("create_time>0001-01-01T00:00:00+14:00", 13, "must be a time"),
    ("metadata.a>true", 12, "no order"),
    ("scope=1", 7, "JSON object of strings"),
    ('scope="{\\"a\\": 1}"', 7, "JSON object of strings"),
    ('scope="{\\"a\\": \\"1\\", \\"a\\": \\"2\\"}"', 7, "JSON object of strings"),
    ('scope="{\\"a\\": \\"\\\\ud800\\"}"', 7, "JSON object of strings"),
    ("fact=*", 6, "* is only allowed alone"),
    ("fact=a*", 7, "not '*'"),
    ('fact:""', 6, "must not be empty"),
    ('fact="ab\\d"', 9, "\\d is not an escape"),
    ('fact="\\ud800"', 6, "surrogate"),
    ("fact=\ud800", 6, "surrogate"),
    ('fact=~"(a"', 7, "not an RE2 pattern"),
    ('fact=~"(?=a)"', 7, "not an RE2 pattern"),
    ('fact=~"(\\pL{0,500}){2}"', 7, "not an RE2 pattern"),
    ('fact=~".{0,1000}x"', 7, "9005 instructions"),
    ("(" * 33 + "fact=a" + ")" * 33, 33, "more than 32 parentheses"),
    ("fact=a " * 101, 705, "more than 100 comparisons"),
    ("fact=" + "a" * 4092, 1, "4097 bytes"),
]


@pytest.mark.parametrize(("text", "column", "problem"), REFUSED)
def test_what_is_not_understood_is_refused(text, column, problem):
    """C42: an unknown field, operator or type is an error that says where it is; a filter is never widened."""
    with pytest.raises(InvalidArgument) as refused:
        parse(text, FIELDS, field_name="purge.filter")
    assert refused.value.field == "purge.filter"
    assert refused.value.problem.startswith(f"column {column}: ")
    assert problem in refused.value.problem


def test_the_limits_themselves_pass():
    """32 parentheses, 100 comparisons and 4,096 bytes are within the limits."""
    for text in ("(" * 32 + "fact=a" + ")" * 32, "fact=a " * 100, "fact=" + "a" * 4091):
        assert parse(text, FIELDS).matches({"fact": "a"}) is (len(text) < 4096)


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$", "(.*)*x", "^(([a-z])+.)+[A-Z]([a-z])+$"])
def test_a_hostile_pattern_ends(pattern):
    """RE2 takes linear time: patterns that backtrack for ever elsewhere answer on a long text."""
    text = "a" * 200_000 + "!"
    assert not parse(f'fact=~"{pattern}"', FIELDS).matches({"fact": text})
    assert parse(f'fact!~"{pattern}"', FIELDS).matches({"fact": text})


def test_a_pattern_is_not_a_plain_string():
    """A pattern keeps its backslashes, single or doubled; four of them find one."""
    assert parse('fact=~"\\bb\\b"', FIELDS).matches({"fact": "a b c"})
    assert parse('fact=~"^\\"\\d\\"$"', FIELDS).matches({"fact": '"1"'})
    assert parse(r'fact=~"^a\\\\b$"', FIELDS).matches({"fact": r"a\b"})
    assert parse(r'fact="a\\b\n\u00e9\ud83d\ude00"', FIELDS).matches({"fact": "a\\b\né😀"})


def test_filters_with_one_meaning_in_one_spelling_are_equal():
    """Space, quotes around keys, and the ways to write AND and NOT make no difference; nor do columns."""
    one, other = parse('fact="a"  -labels."x":1', FIELDS), parse('fact = "a" AND (NOT labels.x : 1)', FIELDS)
    assert one == other
    assert str(one) == str(other) == 'fact="a" AND (NOT labels.x:1)'
    assert one != Filter()


def test_an_offset_is_only_a_spelling():
    """One instant written with 14 offsets is one instant."""
    for hours in range(-6, 8):
        shifted = (NOON + timedelta(hours=hours)).replace(tzinfo=None).isoformat()
        assert parse(f'create_time="{shifted}{hours:+03d}:00"', FIELDS).matches(MEMORY)
