"""Conversion of Contents to items of OpenAI's Responses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from streambank_client.formats import media, tool_arguments
from streambank_client.formats.content_reader import ContentReader, MediaContent, restore
from streambank_client.formats.conversion import JSON, Converted, Reason, Restored
from streambank_client.formats.node import Node
from streambank_client.formats.parts import MEDIA_FIELDS, main_field


def from_contents(contents: Iterable[Converted | Mapping[str, Any]]) -> Restored:
    """Return Contents as items, and what was dropped of them; a Content with calls becomes several items.

    Raises:
        ValueError: a field is of a wrong type; names Content and field.
    """
    return restore(contents, _to_items, keeps=("message_id",))


def _to_items(content: ContentReader) -> list[JSON]:
    """Return the items of a Content: neighbouring texts and media are one message."""
    items: list[JSON] = []
    for at, part in enumerate(content.parts):
        item = _to_item(content, at, part)
        block = None if item else _to_block(content, at, part)
        if item:
            items.append(item)
        elif block and items and items[-1]["type"] == "message":
            items[-1]["content"].append(block)
        elif block:
            role = "assistant" if content.role == "model" else "user"
            items.append({"type": "message", "role": role, "content": [block]})
    return _with_id(content, items)


def _with_id(content: ContentReader, items: list[JSON]) -> list[JSON]:
    if len(items) > 1:
        content.drop(Reason.REWRITTEN, kind="message")
    if content.message_id and len(items) == 1:
        items[0]["id"] = content.message_id
    elif content.message_id:
        content.drop(Reason.NO_PLACE, kind="message_id")
    return items


def _to_item(content: ContentReader, at: int, part: Node) -> JSON | None:
    """Return the item that a call, a result or a thought is, or None for a block of a message."""
    field = main_field(part.value)
    if field == "functionCall" and part.object("functionCall").text("id"):
        call = content.read_call(at, part)
        arguments = tool_arguments.to_text(call.args)
        return {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments}
    if field == "functionResponse" and part.object("functionResponse").text("id"):
        return _to_output(content, at, part)
    if field == "text" and part.get("thought"):
        text, signature = content.read_thought(at, part)
        encrypted = {"encrypted_content": signature} if signature else {}
        return {"type": "reasoning", "summary": [{"type": "summary_text", "text": text}], **encrypted}
    return None


def _to_output(content: ContentReader, at: int, part: Node) -> JSON:
    response = content.read_response(at, part, has_name=False)
    if response.is_error:
        content.drop(Reason.REWRITTEN, kind="functionResponse.error", at=at)
    text = content.output_text(at, response.output)
    blocks = [block for media_part in response.parts if (block := _to_block(content, at, media_part))]
    output: Any = [*([{"type": "input_text", "text": text}] if text else []), *blocks] if blocks else text
    return {"type": "function_call_output", "call_id": response.id, "output": output}


def _to_block(content: ContentReader, at: int, part: Node) -> JSON | None:
    """Return a part as a block of a message, or record the drop and return None."""
    field = main_field(part.value)
    if field == "text":
        kind = "output_text" if content.role == "model" else "input_text"
        return {"type": kind, "text": content.read_text(at, part)}
    if field in MEDIA_FIELDS:
        return _media_block(content, at, content.read_media(at, part))
    is_tool = field in ("functionCall", "functionResponse")
    content.drop(Reason.NO_ID if is_tool else Reason.UNSUPPORTED, kind=field, at=at)
    return None


def _media_block(content: ContentReader, at: int, source: MediaContent) -> JSON:
    kind, format_name = media.kind_and_format(source.mime)
    if kind == "image" and not source.name:
        url = source.uri or media.data_url(source.mime, source.base64)
        return {"type": "input_image", "image_url": url}
    if source.base64 and format_name in ("wav", "mp3") and not source.name:
        return {"type": "input_audio", "input_audio": {"data": source.base64, "format": format_name}}
    if source.uri and source.mime != media.guess_mime_type(source.uri):
        content.drop(Reason.NO_PLACE, kind=f"{source.field}.mimeType", at=at)
    address = {"file_url": source.uri} if source.uri else {"file_data": media.data_url(source.mime, source.base64)}
    return {"type": "input_file", **address, **({"filename": source.name} if source.name else {})}
