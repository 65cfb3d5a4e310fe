"""Google's parts: their kinds, and their fields in one spelling."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from streambank_client.formats.conversion import JSON
from streambank_client.formats.media import encoded
from streambank_client.formats.reading import Node, wrong_type

_KINDS = ("functionCall", "functionResponse", "inlineData", "fileData", "text")
_MARKS = ("thought", "thoughtSignature")
# The caller's own maps, whose keys are not fields.
_MAPS = frozenset({"partMetadata"})


def kind_of(part: Mapping[str, Any]) -> str:
    """Return what a part is by its main field, "part" where it has none."""
    known = (kind for kind in _KINDS if kind in part)
    others = (name for name in part if name not in _MARKS)
    return next(known, None) or next(others, "part")


def spelled(part: Node) -> Node:
    """Return a part with its fields in camelCase, without nulls, bytes as base64 and the known ones checked.

    Raises:
        ValueError: a field is of a wrong type, or given in both spellings.
    """
    fields = _camel_fields(part)
    return Node({name: _READERS.get(name, _other)(fields, name) for name in fields.value}, part.path)


def _camel_fields(node: Node) -> Node:
    found: JSON = {}
    for key, value in node.value.items():
        name = _camel(str(key))
        if value is not None and name in found:
            raise ValueError(f"{node.path}.{name}: is given in two spellings")
        if value is not None:
            found[name] = value
    return Node(found, node.path)


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word[:1].upper() + word[1:] for word in rest)


def _text(part: Node, name: str) -> str:
    return part.text(name)


def _flag(part: Node, name: str) -> bool:
    value = part.get(name)
    if not isinstance(value, bool):
        raise wrong_type(part, name, "true or false")
    return value


def _bytes(part: Node, name: str) -> str:
    """Return bytes as base64; text is left alone, whether it is base64 or not."""
    value = part.get(name)
    found = value if isinstance(value, str) else encoded(value)
    if found is None:
        raise wrong_type(part, name, "base64 or bytes")
    return found


def _call(part: Node, name: str) -> JSON:
    call = _camel_fields(part.object(name))
    call.text("id"), call.text("name"), call.object("args")
    return dict(call.value)


def _response(part: Node, name: str) -> JSON:
    said = _camel_fields(part.object(name))
    said.text("id"), said.text("name"), said.object("response")
    parts = {"parts": [spelled(one).value for one in said.nodes("parts")]} if said.items("parts") else {}
    return {**said.value, **parts}


def _blob(part: Node, name: str) -> JSON:
    blob = _camel_fields(part.object(name))
    blob.text("mimeType"), blob.text("displayName")
    return {field: _bytes(blob, field) if field == "data" else value for field, value in blob.value.items()}


def _file(part: Node, name: str) -> JSON:
    file = _camel_fields(part.object(name))
    file.text("mimeType"), file.text("displayName"), file.text("fileUri")
    return dict(file.value)


def _other(part: Node, name: str) -> Any:
    value = part.get(name)
    is_object = isinstance(value, Mapping) and name not in _MAPS
    return dict(_camel_fields(part.object(name)).value) if is_object else value


_READERS: dict[str, Callable[[Node, str], Any]] = {
    "text": _text,
    "thought": _flag,
    "thoughtSignature": _bytes,
    "functionCall": _call,
    "functionResponse": _response,
    "inlineData": _blob,
    "fileData": _file,
}
