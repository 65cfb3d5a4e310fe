"""The document as the fuzzer gets it: with ids that exist, since guessed ones would end every request with a 404."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

JsonObject = dict[str, Any]
Known = Mapping[str, Sequence[str]]


# Where a path is echoed and nothing more, what it says must not keep the fuzzer busy.
_PLAIN = {"project": ["demo"], "location": ["here"], "bank": ["default"], "revision": ["1", "2"]}


def hinted(document: JsonObject, known: Known, doomed: Known) -> JsonObject:
    """Return *document* with the ids of *known* resources in its paths, and of *doomed* ones where it deletes."""
    found = deepcopy(document)
    declared = found["components"]["parameters"]
    for methods in found["paths"].values():
        for method, operation in methods.items():
            ids = {**_PLAIN, **(doomed if method == "delete" else known)}
            operation["parameters"] = [_chosen(one, declared, ids) for one in operation["parameters"]]
    return found


def _chosen(parameter: JsonObject, declared: Mapping[str, JsonObject], ids: Known) -> JsonObject:
    if "$ref" not in parameter:
        return parameter
    named = declared[parameter["$ref"].rpartition("/")[2]]
    return named | {"schema": {"type": "string", "enum": list(ids[named["name"]])}}


def tame(document: JsonObject) -> JsonObject:
    """Return *document* with what is asked for tamed; answers are described as they are."""
    bodies = [one.get("requestBody") for methods in document["paths"].values() for one in methods.values()]
    schemas = document["components"]["schemas"]
    asked = _named(bodies, schemas, set())
    paths = {
        path: {method: _but_responses(operation) for method, operation in methods.items()}
        for path, methods in document["paths"].items()
    }
    described = {name: tamed(schema) if name in asked else schema for name, schema in schemas.items()}
    return document | {"paths": paths, "components": document["components"] | {"schemas": described}}


def _but_responses(operation: JsonObject) -> JsonObject:
    return {name: part if name == "responses" else tamed(part) for name, part in operation.items()}


def _named(node: Any, schemas: Mapping[str, Any], found: set[str]) -> set[str]:
    """Return the names of the *schemas* that *node* refers to, directly or through others."""
    if isinstance(node, Mapping):
        name = str(node.get("$ref", "")).removeprefix("#/components/schemas/")
        if name in schemas and name not in found:
            found.add(name)
            _named(schemas[name], schemas, found)
    for one in node.values() if isinstance(node, Mapping) else node if isinstance(node, list) else ():
        _named(one, schemas, found)
    return found


def tamed(node: Any) -> Any:
    """Let every schema that has examples be one of them, so that requests come past the first check."""
    if isinstance(node, list):
        return [tamed(one) for one in node]
    if not isinstance(node, dict):
        return node
    if isinstance(node.get("examples"), list):
        return {"enum": node["examples"]}
    return {key: tamed(value) for key, value in node.items()}
