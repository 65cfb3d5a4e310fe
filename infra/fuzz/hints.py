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


def tamed(node: Any) -> Any:
    """Let every schema that has examples be one of them, so that requests come past the first check."""
    if isinstance(node, list):
        return [tamed(one) for one in node]
    if not isinstance(node, dict):
        return node
    if isinstance(node.get("examples"), list):
        return {"enum": node["examples"]}
    return {key: tamed(value) for key, value in node.items()}
