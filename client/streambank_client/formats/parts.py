"""Google's parts: their main fields, and their fields in one spelling."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from streambank_client.formats.conversion import JSON
from streambank_client.formats.media import to_base64
from streambank_client.formats.node import Node, wrong_type

MEDIA_FIELDS = ("inlineData", "fileData")
_MAIN_FIELDS = ("functionCall", "functionResponse", *MEDIA_FIELDS, "text")
_THOUGHT_FIELDS = ("thought", "thoughtSignature")
# The caller's own maps, whose keys are not fields.
_FREE_MAPS = frozenset({"partMetadata"})


def main_field(part: Mapping[str, Any]) -> str:
    """Return the field that says what a part is, or "part" if it has none."""
    known = (field for field in _MAIN_FIELDS if field in part)
    others = (field for field in part if field not in _THOUGHT_FIELDS)
    return next(known, None) or next(others, "part")


def part_kind(part: Mapping[str, Any]) -> str:
    """Return the main field of a part, or "thought" for a text that is a thought."""
    field = main_field(part)
    return "thought" if field == "text" and part.get("thought") else field


def normalize_part(part: Node) -> Node:
    """Return a part with its fields in camelCase, without nulls, with bytes as base64 and known fields checked.

    Raises:
        ValueError: a field is of a wrong type, or given in both spellings.
    """
    fields = _camel_fields(part)
    return Node({name: _READERS.get(name, _read_other)(fields, name) for name in fields.value}, part.path)


def _camel_fields(node: Node) -> Node:
    fields: JSON = {}
    for key, value in node.value.items():
        name = _camel_case(str(key))
        if value is not None and name in fields:
            raise ValueError(f"{node.path}.{name}: is given in two spellings")
        if value is not None:
            fields[name] = value
    return Node(fields, node.path)


def _camel_case(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word[:1].upper() + word[1:] for word in rest)


def _read_text(part: Node, name: str) -> str:
    return part.text(name)


def _read_flag(part: Node, name: str) -> bool:
    value = part.get(name)
    if not isinstance(value, bool):
        raise wrong_type(part, name, "true or false")
    return value


def _read_bytes(part: Node, name: str) -> str:
    """Return bytes as base64; text stays as it is, even if it is not base64."""
    value = part.get(name)
    base64 = value if isinstance(value, str) else to_base64(value)
    if base64 is None:
        raise wrong_type(part, name, "base64 or bytes")
    return base64


def _read_call(part: Node, name: str) -> JSON:
    call = _camel_fields(part.object(name))
    call.text("id"), call.text("name"), call.object("args")
    return dict(call.value)


def _read_response(part: Node, name: str) -> JSON:
    response = _camel_fields(part.object(name))
    response.text("id"), response.text("name"), response.object("response")
    parts = [normalize_part(inner).value for inner in response.objects("parts")]
    return {**response.value, **({"parts": parts} if parts else {})}


def _read_blob(part: Node, name: str) -> JSON:
    blob = _camel_fields(part.object(name))
    blob.text("mimeType"), blob.text("displayName")
    return {field: _read_bytes(blob, field) if field == "data" else value for field, value in blob.value.items()}


def _read_file(part: Node, name: str) -> JSON:
    file = _camel_fields(part.object(name))
    file.text("mimeType"), file.text("displayName"), file.text("fileUri")
    return dict(file.value)


def _read_other(part: Node, name: str) -> Any:
    value = part.get(name)
    is_object = isinstance(value, Mapping) and name not in _FREE_MAPS
    return dict(_camel_fields(part.object(name)).value) if is_object else value


_READERS: dict[str, Callable[[Node, str], Any]] = {
    "text": _read_text,
    "thought": _read_flag,
    "thoughtSignature": _read_bytes,
    "functionCall": _read_call,
    "functionResponse": _read_response,
    "inlineData": _read_blob,
    "fileData": _read_file,
}
