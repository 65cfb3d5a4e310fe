"""Conversion of Contents to messages of OpenAI's chat completions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from streambank_client.formats import media, tool_arguments
from streambank_client.formats.chat_messages import message_content, split_calls, split_results
from streambank_client.formats.content_reader import ContentReader, MediaContent, restore
from streambank_client.formats.conversion import JSON, Converted, Reason, Restored
from streambank_client.formats.node import Node
from streambank_client.formats.parts import MEDIA_FIELDS, main_field


def from_contents(contents: Iterable[Converted | Mapping[str, Any]]) -> Restored:
    """Return Contents as chat messages, and what was dropped of them.

    Each tool result of a Content becomes a separate message.

    Raises:
        ValueError: a field is of a wrong type; names Content and field.
    """
    return restore(contents, _to_messages)


def _to_messages(content: ContentReader) -> list[JSON]:
    if content.role == "model":
        return _assistant_messages(content)
    return split_results(content, to_blocks=_to_blocks, to_results=_to_results, to_user_message=_user_message)


def _assistant_messages(content: ContentReader) -> list[JSON]:
    blocks, calls = split_calls(content, to_blocks=_to_blocks, to_calls=_to_calls)
    if not blocks and not calls:
        return []
    return [{"role": "assistant", "content": message_content(blocks), **({"tool_calls": calls} if calls else {})}]


def _user_message(blocks: list[JSON]) -> JSON:
    return {"role": "user", "content": message_content(blocks)}


def _to_calls(content: ContentReader, at: int, part: Node) -> list[JSON]:
    call = content.read_call(at, part)
    if not call.id:
        content.drop(Reason.NO_ID, kind="functionCall", at=at)
        return []
    function = {"name": call.name, "arguments": tool_arguments.to_text(call.args)}
    return [{"id": call.id, "type": "function", "function": function}]


def _to_results(content: ContentReader, at: int, part: Node) -> list[JSON]:
    response = content.read_response(at, part, has_name=False)
    if not response.id:
        content.drop(Reason.NO_ID, kind="functionResponse", at=at)
        return []
    if response.is_error:
        content.drop(Reason.REWRITTEN, kind="functionResponse.error", at=at)
    media_blocks = [block for media_part in response.parts for block in _to_blocks(content, at, media_part)]
    text = content.output_text(at, response.output)
    blocks = [*([{"type": "text", "text": text}] if text else []), *media_blocks]
    return [{"role": "tool", "tool_call_id": response.id, "content": message_content(blocks) or ""}]


def _to_blocks(content: ContentReader, at: int, part: Node) -> list[JSON]:
    """Return a part as one block, or record the drop and return none."""
    field = main_field(part.value)
    if field == "text" and not part.get("thought"):
        return [{"type": "text", "text": content.read_text(at, part)}]
    block = _media_block(content.read_media(at, part)) if field in MEDIA_FIELDS else None
    if block is None:
        content.drop(Reason.UNSUPPORTED, kind="thought" if part.get("thought") else field, at=at)
        return []
    return [block]


def _media_block(source: MediaContent) -> JSON | None:
    kind, format_name = media.kind_and_format(source.mime)
    if kind == "image" and not source.name:
        url = source.uri or media.data_url(source.mime, source.base64)
        return {"type": "image_url", "image_url": {"url": url}}
    if not source.base64:
        return None
    if format_name in ("wav", "mp3") and not source.name:
        return {"type": "input_audio", "input_audio": {"data": source.base64, "format": format_name}}
    name = {"filename": source.name} if source.name else {}
    return {"type": "file", "file": {"file_data": media.data_url(source.mime, source.base64), **name}}
