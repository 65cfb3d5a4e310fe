"""JSON schemas of banks: checked when they are configured, and safe to validate with."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from streambank.errors import InvalidArgument
from streambank.model.bank import ProfileSchema

# The keywords of Google's Schema type that contain schemas, whose types are in capitals.
_SUBSCHEMAS = ("items", "additionalProperties", "not")
_SUBSCHEMA_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_NUMBERS = ("minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties")


def json_schema(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of a schema configuration: its `jsonSchema`, else its `schema`, converted."""
    given = config.get("jsonSchema")
    return dict(given) if isinstance(given, Mapping) else _from_google_schema(config.get("schema") or {})


def _from_google_schema(schema: Any) -> Any:
    """Return a schema of Google's type ("OBJECT", minItems as text) as JSON Schema."""
    if not isinstance(schema, Mapping):
        return schema
    converted = {key: value for key, value in schema.items() if key not in ("nullable", "propertyOrdering", "example")}
    if isinstance(converted.get("type"), str):
        kind = converted["type"].lower()
        converted["type"] = [kind, "null"] if schema.get("nullable") else kind
    converted |= {key: int(converted[key]) for key in _NUMBERS if str(converted.get(key, "")).isdecimal()}
    converted |= {key: _from_google_schema(converted[key]) for key in _SUBSCHEMAS if key in converted}
    lists = [key for key in _SUBSCHEMA_LISTS if isinstance(converted.get(key), list)]
    converted |= {key: [_from_google_schema(one) for one in converted[key]] for key in lists}
    if isinstance(converted.get("properties"), Mapping):
        converted["properties"] = {name: _from_google_schema(one) for name, one in converted["properties"].items()}
    return converted


def check_schema(config: Mapping[str, Any], path: str) -> None:
    """Raise InvalidArgument if a schema configuration holds no schema that a profile can have."""
    schema = json_schema(config)
    if schema.get("type") != "object" or not isinstance(schema.get("properties"), Mapping) or not schema["properties"]:
        raise InvalidArgument(path, "must be the schema of an object with properties")
    # jsonschema is imported in functions: it takes 190 ms, and only banks with profiles need it.
    from jsonschema.exceptions import SchemaError

    try:
        _validator_class().check_schema(schema)
    except SchemaError as error:
        raise InvalidArgument(path, f"is not a JSON schema: {error.message[:200]}") from None
    except RecursionError:
        raise InvalidArgument(path, "contains a pattern with too many parentheses") from None
    for key, item in _entries(schema):
        if key in ("$ref", "$dynamicRef") and not str(item).startswith("#"):
            raise InvalidArgument(path, "must not refer to anything outside itself")
        if key == "patternProperties":  # `additionalProperties` would run its patterns in exponential time
            raise InvalidArgument(path, "must not use patternProperties")


def _entries(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield every key with its value, at all depths."""
    if isinstance(value, Mapping):
        yield from value.items()
    for item in value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ():
        yield from _entries(item)


def matches_schema(values: Mapping[str, Any], schema: ProfileSchema) -> bool:
    """Tell whether *values*, a part of a profile, match *schema*; fields that are required may be missing.

    Nothing matches a schema with an unresolvable or endless reference, which must not block the bank's windows.
    """
    from referencing.exceptions import Unresolvable

    properties = schema.schema.get("properties", {})
    if any(name not in properties for name in values):
        return False
    try:
        return bool(_validator(json.dumps(schema.schema, sort_keys=True)).is_valid(dict(values)))
    except (RecursionError, Unresolvable):
        return False


@lru_cache(maxsize=64)
def _validator(schema: str) -> Any:
    from referencing import Registry

    whole = json.loads(schema, object_hook=_without_dialect)
    partial = {key: value for key, value in whole.items() if key not in ("required", "minProperties")}
    return _validator_class()(partial, registry=Registry())


def _without_dialect(node: dict[str, Any]) -> dict[str, Any]:
    """Leave out `$schema`: the library would switch to a class of its own, whose patterns backtrack."""
    return {key: value for key, value in node.items() if key != "$schema" or not isinstance(value, str)}


@lru_cache(maxsize=1)
def _validator_class() -> Any:
    """Return a validator whose patterns run in linear time, because callers write them."""
    from jsonschema import Draft202012Validator, ValidationError
    from jsonschema.validators import extend

    def pattern(_: Any, expression: str, instance: Any, __: Any) -> Iterator[ValidationError]:
        if isinstance(instance, str) and not _matches(expression, instance):
            yield ValidationError("does not match the pattern")

    return extend(Draft202012Validator, {"pattern": pattern})


def _matches(pattern: str, text: str) -> bool:
    """Tell whether *pattern* matches a part of *text*; a pattern that RE2 rejects matches nothing."""
    # Imported here: it takes 9 ms, and only schemas with a pattern need it.
    import re2

    try:
        return re2.search(pattern, text) is not None
    except re2.error:
        return False
