"""The document as the fuzzer gets it: half of the values are plausible, so that requests come past the first check."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

JsonObject = dict[str, Any]
Known = Mapping[str, Sequence[str]]


def hinted(document: JsonObject, known: Known, doomed: Known) -> JsonObject:
    """Return *document* with the ids of *known* resources as examples, those of *doomed* ones where it deletes."""
    found = deepcopy(document)
    declared = found["components"]["parameters"]
    spared = {name: _with_examples(declared[name], known) for name in declared}
    for methods in found["paths"].values():
        for method, operation in methods.items():
            ids = {**spared, **{name: _with_examples(declared[name], doomed) for name in doomed}}
            operation["parameters"] = [
                _resolved(one, ids if method == "delete" else spared) for one in operation["parameters"]
            ]
    return {key: _eased(value) for key, value in found.items()}


def _with_examples(parameter: JsonObject, known: Known) -> JsonObject:
    ids = known.get(parameter["name"])
    return parameter if ids is None else parameter | {"schema": parameter["schema"] | {"examples": list(ids)}}


def _resolved(parameter: JsonObject, ids: Mapping[str, JsonObject]) -> JsonObject:
    return ids[parameter["$ref"].rpartition("/")[2]] if "$ref" in parameter else parameter


def _eased(node: Any) -> Any:
    """Let every schema that has examples be one of them just as well."""
    if isinstance(node, list):
        return [_eased(one) for one in node]
    if not isinstance(node, dict):
        return node
    found = {key: _eased(value) for key, value in node.items() if key != "examples"}
    return {"anyOf": [{"enum": node["examples"]}, found]} if isinstance(node.get("examples"), list) else found
