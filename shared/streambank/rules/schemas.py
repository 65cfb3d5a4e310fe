"""JSON schemas that banks bring: checked once, and safe to run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from streambank.errors import InvalidArgument
from streambank.model.bank import ProfileSchema

# Keywords under which Google's Schema type spells its types in capitals.
_SUBSCHEMAS = ("items", "additionalProperties", "not")
_SUBSCHEMA_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_NUMBERS = ("minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties")


def json_schema(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of a schema configuration: its `jsonSchema`, else its `schema` respelled."""
    given = config.get("jsonSchema")
    return dict(given) if isinstance(given, Mapping) else _respelled(config.get("schema") or {})


def _respelled(schema: Any) -> Any:
    """Return a schema in Google's spelling ("OBJECT", minItems as text) as JSON Schema."""
    if not isinstance(schema, Mapping):
        return schema
    found = {key: value for key, value in schema.items() if key not in ("nullable", "propertyOrdering", "example")}
    if isinstance(found.get("type"), str):
        kind = found["type"].lower()
        found["type"] = [kind, "null"] if schema.get("nullable") else kind
    found |= {key: int(found[key]) for key in _NUMBERS if str(found.get(key, "")).isdecimal()}
    found |= {key: _respelled(found[key]) for key in _SUBSCHEMAS if key in found}
    lists = [key for key in _SUBSCHEMA_LISTS if isinstance(found.get(key), list)]
    found |= {key: [_respelled(one) for one in found[key]] for key in lists}
    if isinstance(found.get("properties"), Mapping):
        found["properties"] = {name: _respelled(one) for name, one in found["properties"].items()}
    return found


def check_schema(config: Mapping[str, Any], path: str) -> None:
    """Raise InvalidArgument if a schema configuration holds no schema that a profile can have."""
    schema = json_schema(config)
    if schema.get("type") != "object" or not isinstance(schema.get("properties"), Mapping) or not schema["properties"]:
        raise InvalidArgument(path, "must be the schema of an object with properties")
    from jsonschema.exceptions import SchemaError

    try:
        _validator_class().check_schema(schema)
    except SchemaError as error:
        raise InvalidArgument(path, f"is no JSON schema: {error.message[:200]}") from None
    except RecursionError:
        raise InvalidArgument(path, "holds a pattern of too many parentheses") from None
    for key, item in _entries(schema):
        if key in ("$ref", "$dynamicRef") and not str(item).startswith("#"):
            raise InvalidArgument(path, "may refer to nothing outside itself")
        if key == "patternProperties":  # `additionalProperties` would run its patterns in exponential time
            raise InvalidArgument(path, "may not use patternProperties")


def _entries(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield every key with its value, at all depths."""
    if isinstance(value, Mapping):
        yield from value.items()
    for item in value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ():
        yield from _entries(item)


def matches_schema(values: Mapping[str, Any], schema: ProfileSchema) -> bool:
    """Tell whether *values*, a part of a profile, fit: fields that are not stated yet are not missed.

    Nothing fits a schema that refers to nothing, or to itself for ever: it must not stop its bank's windows.
    """
    from referencing.exceptions import Unresolvable

    known = schema.schema.get("properties", {})
    if any(name not in known for name in values):
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
    """Leave out `$schema`: below it the library goes on with a class of its own, whose patterns backtrack."""
    return {key: value for key, value in node.items() if key != "$schema" or not isinstance(value, str)}


@lru_cache(maxsize=1)
def _validator_class() -> Any:
    """Return a validator whose patterns run in linear time, since they are the caller's."""
    from jsonschema import Draft202012Validator, ValidationError
    from jsonschema.validators import extend

    def pattern(_: Any, wanted: str, instance: Any, __: Any) -> Iterator[ValidationError]:
        if isinstance(instance, str) and not _matches(wanted, instance):
            yield ValidationError("does not match the pattern")

    return extend(Draft202012Validator, {"pattern": pattern})


def _matches(pattern: str, text: str) -> bool:
    """A pattern that RE2 does not take matches nothing."""
    import re2  # type: ignore[import-untyped]

    try:
        return re2.search(pattern, text) is not None
    except re2.error:
        return False
