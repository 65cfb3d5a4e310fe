"""Conversion of Contents to messages of Koog 1.x."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from streambank_client.formats import tool_arguments
from streambank_client.formats.content_reader import ContentReader, restore
from streambank_client.formats.conversion import JSON, Converted, Reason, Restored
from streambank_client.formats.koog.attachments import to_attachment
from streambank_client.formats.koog.metadata import PACKAGE, to_metadata
from streambank_client.formats.node import Node
from streambank_client.formats.parts import part_kind


def from_contents(contents: Iterable[Converted | Mapping[str, Any]]) -> Restored:
    """Return Contents as Koog's messages, and what was dropped of them.

    If the time is not known, the timestamp is the one that Koog writes in that case.

    Raises:
        ValueError: a field is of a wrong type; names Content and field.
    """
    return restore(contents, _to_messages, keeps=("message_id", "time"))


def _to_messages(content: ContentReader) -> list[JSON]:
    parts = [koog_part for at, part in enumerate(content.parts) if (koog_part := _to_part(content, at, part))]
    name = "Assistant" if content.role == "model" else "User"
    metadata = to_metadata(content.time, content.message_id)
    return [{"type": f"{PACKAGE}Message.{name}", "parts": parts, "metaInfo": metadata}] if parts else []


def _to_part(content: ContentReader, at: int, part: Node) -> JSON | None:
    kind = part_kind(part.value)
    # In Koog only assistants call tools and reason, and only users send results.
    has_wrong_role = content.role == "user" and kind in ("functionCall", "thought")
    has_wrong_role |= content.role == "model" and kind == "functionResponse"
    if kind not in _PARTS or has_wrong_role:
        content.drop(Reason.UNSUPPORTED, kind=kind, at=at)
        return None
    return _PARTS[kind](content, at, part)


def _koog_part(name: str, **fields: Any) -> JSON:
    return {"type": f"{PACKAGE}MessagePart.{name}", **fields}


def _to_text(content: ContentReader, at: int, part: Node) -> JSON:
    return _koog_part("Text", text=content.read_text(at, part))


def _to_reasoning(content: ContentReader, at: int, part: Node) -> JSON:
    text, signature = content.read_thought(at, part)
    return _koog_part("Reasoning", content=[text], **({"encrypted": signature} if signature else {}))


def _to_call(content: ContentReader, at: int, part: Node) -> JSON:
    call = content.read_call(at, part)
    return _koog_part("Tool.Call", id=call.id, tool=call.name, args=tool_arguments.to_text(call.args))


def _to_result(content: ContentReader, at: int, part: Node) -> JSON:
    response = content.read_response(at, part, has_name=True)
    text = content.output_text(at, response.output)
    attachments = [_to_attachment(content, at, media_part) for media_part in response.parts]
    parts = [*([_koog_part("Text", text=text)] if text else []), *filter(None, attachments)]
    is_error = {"isError": True} if response.is_error else {}
    return _koog_part("Tool.Result", id=response.id, tool=response.name, parts=parts, **is_error)


def _to_attachment(content: ContentReader, at: int, part: Node) -> JSON | None:
    source = to_attachment(content, at, content.read_media(at, part), "AttachmentSource")
    return _koog_part("Attachment", source=source) if source else None


_PARTS: dict[str, Callable[[ContentReader, int, Node], JSON | None]] = {
    "text": _to_text,
    "thought": _to_reasoning,
    "functionCall": _to_call,
    "functionResponse": _to_result,
    "inlineData": _to_attachment,
    "fileData": _to_attachment,
}
