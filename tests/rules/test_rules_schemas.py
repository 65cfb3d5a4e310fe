"""Schemas of profiles: refused where no profile can have them, and safe to run."""

import pytest

from streambank.errors import InvalidArgument
from streambank.model.bank import ProfileSchema
from streambank.rules.schemas import check_schema, json_schema, matches_schema


def schema(**properties):
    return ProfileSchema("s", {"type": "object", "properties": properties, "required": list(properties)})


def test_googles_spelling_is_read():
    """Types in capitals, nullable and counts as text mean what JSON Schema says in its own way."""
    given = {"type": "OBJECT", "properties": {"tags": {"type": "ARRAY", "maxItems": "2", "items": {"type": "STRING"}}}}
    tags = {"type": "array", "maxItems": 2, "items": {"type": "string"}}
    assert json_schema({"schema": given}) == {"type": "object", "properties": {"tags": tags}}
    assert json_schema({"schema": {"type": "STRING", "nullable": True}}) == {"type": ["string", "null"]}


def test_a_part_fits_but_nothing_unknown_does():
    """Fields that were not stated yet are not missed; a field that the schema does not know never fits."""
    both = schema(age={"type": "integer"}, diet={"type": "string"})
    assert matches_schema({"age": 3}, both)
    assert not matches_schema({"age": "three"}, both)
    assert not matches_schema({"shoe": 3}, both)


def test_patterns_run_in_linear_time():
    """A pattern that backtracks for ever elsewhere answers here; one that needs backtracking matches nothing."""
    assert not matches_schema({"a": "a" * 5_000 + "!"}, schema(a={"type": "string", "pattern": "^(a|a)*$"}))
    assert matches_schema({"a": "aaa"}, schema(a={"type": "string", "pattern": "^(a|a)*$"}))
    assert not matches_schema({"a": "aa"}, schema(a={"type": "string", "pattern": r"(a)\\1"}))


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"type": "array"},
        {"type": "object", "properties": {}},
        {"type": "object", "properties": {"a": {"type": 7}}},
        {"type": "object", "properties": {"a": {"$ref": "https://elsewhere.example/s"}}},
        {"type": "object", "properties": {"a": {"anyOf": [{"patternProperties": {"(a|a)*": {}}}]}}},
    ],
)
def test_what_no_profile_can_have_is_refused(given):
    """The path is named, and nothing is fetched or run."""
    with pytest.raises(InvalidArgument) as refusal:
        check_schema({"jsonSchema": given}, "the.path")
    assert refusal.value.field == "the.path"
