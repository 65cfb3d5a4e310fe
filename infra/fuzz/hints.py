"""The OpenAPI document for the fuzzer, with ids that exist: with guessed ones every reply would be 404."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

JsonObject = dict[str, Any]
Ids = Mapping[str, Sequence[str]]


# Parameters that the service only repeats in its replies get fixed values, so that the fuzzer varies the others.
_FIXED = {"project": ["demo"], "location": ["here"], "bank": ["default"], "revision": ["1", "2"]}


def with_ids(document: JsonObject, ids: Ids, deletable_ids: Ids) -> JsonObject:
    """Return *document* with *ids* in its paths, and *deletable_ids* in the paths of DELETE."""
    copy = deepcopy(document)
    declared = copy["components"]["parameters"]
    for methods in copy["paths"].values():
        for method, operation in methods.items():
            values = {**_FIXED, **(deletable_ids if method == "delete" else ids)}
            operation["parameters"] = [_with_values(one, declared, values) for one in operation["parameters"]]
    return copy


def _with_values(parameter: JsonObject, declared: Mapping[str, JsonObject], values: Ids) -> JsonObject:
    if "$ref" not in parameter:
        return parameter
    named = declared[parameter["$ref"].rpartition("/")[2]]
    return named | {"schema": {"type": "string", "enum": list(values[named["name"]])}}


def with_examples(document: JsonObject) -> JsonObject:
    """Return *document* with examples as the only values of requests; replies keep their schemas."""
    bodies = [one.get("requestBody") for methods in document["paths"].values() for one in methods.values()]
    schemas = document["components"]["schemas"]
    request_schemas = _referenced(bodies, schemas, set())
    paths = {
        path: {method: _with_example_requests(operation) for method, operation in methods.items()}
        for path, methods in document["paths"].items()
    }
    changed = {name: examples_only(schema) if name in request_schemas else schema for name, schema in schemas.items()}
    return document | {"paths": paths, "components": document["components"] | {"schemas": changed}}


def _with_example_requests(operation: JsonObject) -> JsonObject:
    return {name: part if name == "responses" else examples_only(part) for name, part in operation.items()}


def _referenced(node: Any, schemas: Mapping[str, Any], names: set[str]) -> set[str]:
    """Return the names of the *schemas* that *node* refers to, directly or through others."""
    if isinstance(node, Mapping):
        name = str(node.get("$ref", "")).removeprefix("#/components/schemas/")
        if name in schemas and name not in names:
            names.add(name)
            _referenced(schemas[name], schemas, names)
    for one in node.values() if isinstance(node, Mapping) else node if isinstance(node, list) else ():
        _referenced(one, schemas, names)
    return names


def examples_only(node: Any) -> Any:
    """Replace each schema that has examples by these, so that requests get past the first checks."""
    if isinstance(node, list):
        return [examples_only(one) for one in node]
    if not isinstance(node, dict):
        return node
    if isinstance(node.get("examples"), list):
        return {"enum": node["examples"]}
    return {key: examples_only(value) for key, value in node.items()}
