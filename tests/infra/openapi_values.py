"""Values drawn from the schemas of the description."""

import re
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from jsonschema import Draft202012Validator

Schema = dict[str, Any]
# Plain characters: the lengths of the description are bytes.
TEXT = st.characters(min_codepoint=32, max_codepoint=126, exclude_characters="*")
ANYTHING = st.none() | st.booleans() | st.integers(-9, 9) | st.text(TEXT, max_size=3)
LONGEST = 8


def drawn(schema: Schema, components: Schema) -> SearchStrategy[Any]:
    """Return a strategy for what *schema* describes; a schema with examples stands for those."""
    if "$ref" in schema:
        return drawn(components[schema["$ref"].rpartition("/")[2]], components)
    if "examples" in schema or "enum" in schema:
        return st.sampled_from(schema.get("examples") or schema["enum"])
    return _BY_TYPE[schema.get("type", "any")](schema, components)


def _any(schema: Schema, components: Schema) -> SearchStrategy[Any]:
    return ANYTHING


def _string(schema: Schema, components: Schema) -> SearchStrategy[str]:
    if "pattern" in schema and "maxLength" not in schema:
        return st.from_regex(re.compile(schema["pattern"], re.ASCII), fullmatch=True)
    return st.text(TEXT, min_size=schema.get("minLength", 0), max_size=min(schema.get("maxLength", LONGEST), LONGEST))


def _integer(schema: Schema, components: Schema) -> SearchStrategy[int]:
    least = schema.get("minimum", 0)
    return st.integers(least, schema.get("maximum", schema.get("exclusiveMaximum", least + 10) - 1))


def _number(schema: Schema, components: Schema) -> SearchStrategy[float]:
    return st.floats(schema["minimum"], schema["maximum"])


def _array(schema: Schema, components: Schema) -> SearchStrategy[list[Any]]:
    unique_by = repr if schema.get("uniqueItems") else None
    items = drawn(schema["items"], components)
    return st.lists(items, min_size=schema.get("minItems", 0), max_size=3, unique_by=unique_by)


def _object(schema: Schema, components: Schema) -> SearchStrategy[Schema]:
    if "properties" not in schema:
        values = schema["additionalProperties"]
        keys = _string({"minLength": 1}, components)
        inner = ANYTHING if values is True else drawn(values, components)
        return st.dictionaries(keys, inner, min_size=schema.get("minProperties", 0), max_size=3)
    fields = {name: drawn(inner, components) for name, inner in schema["properties"].items()}
    if schema.get("maxProperties") == 1:
        return st.one_of(*(st.fixed_dictionaries({name: inner}) for name, inner in fields.items()))
    required = {name: fields.pop(name) for name in schema.get("required", ())}
    chosen = st.fixed_dictionaries(required, optional=fields).map(lambda found: _without_pairs(found, schema))
    return chosen.filter(lambda found: _has_one(found, schema))


def _without_pairs(found: Schema, schema: Schema) -> Schema:
    rules = schema.get("allOf", ())
    for first, second in [rule["not"]["required"] for rule in rules if "not" in rule]:
        if first in found:
            found.pop(second, None)
    sources = [one["required"][0] for rule in rules for one in rule.get("oneOf", ())]
    for extra in [name for name in sources if name in found][1:]:
        del found[extra]
    return found


def _has_one(found: Schema, schema: Schema) -> bool:
    rules = [rule for rule in schema.get("allOf", ()) if "not" not in rule]
    return all(Draft202012Validator(rule).is_valid(found) for rule in rules)


_BY_TYPE = {
    "any": _any,
    "array": _array,
    "boolean": lambda schema, components: st.booleans(),
    "integer": _integer,
    "number": _number,
    "object": _object,
    "string": _string,
}
