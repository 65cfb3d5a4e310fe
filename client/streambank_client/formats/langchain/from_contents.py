"""Conversion of Contents to messages of LangChain, as its `messages_from_dict` reads them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from streambank_client.formats import media
from streambank_client.formats.chat_messages import message_content, split_calls, split_results
from streambank_client.formats.content_reader import ContentReader, MediaContent, restore
from streambank_client.formats.conversion import JSON, Converted, Reason, Restored
from streambank_client.formats.node import Node
from streambank_client.formats.parts import MEDIA_FIELDS, part_kind


def from_contents(contents: Iterable[Converted | Mapping[str, Any]]) -> Restored:
    """Return Contents as LangChain's message dicts, and what was dropped of them.

    Each tool result of a Content becomes a separate message; the first message has the id.

    Raises:
        ValueError: a field is of a wrong type; names Content and field.
    """
    return restore(contents, _to_messages, keeps=("message_id",))


def _to_messages(content: ContentReader) -> list[JSON]:
    messages = _ai_messages(content) if content.role == "model" else _human_messages(content)
    if messages and content.message_id:
        messages[0]["data"]["id"] = content.message_id
    return messages


def _ai_messages(content: ContentReader) -> list[JSON]:
    blocks, calls = split_calls(content, to_blocks=_to_blocks, to_calls=_to_calls)
    data = {"content": message_content(blocks) or "", **({"tool_calls": calls} if calls else {})}
    return [{"type": "ai", "data": data}] if blocks or calls else []


def _human_messages(content: ContentReader) -> list[JSON]:
    return split_results(content, to_blocks=_to_blocks, to_results=_to_results, to_user_message=_human_message)


def _human_message(blocks: list[JSON]) -> JSON:
    return {"type": "human", "data": {"content": message_content(blocks)}}


def _to_calls(content: ContentReader, at: int, part: Node) -> list[JSON]:
    call = content.read_call(at, part)
    if not call.id:
        content.drop(Reason.NO_ID, kind="functionCall", at=at)
        return []
    return [{"name": call.name, "args": call.args, "id": call.id, "type": "tool_call"}]


def _to_results(content: ContentReader, at: int, part: Node) -> list[JSON]:
    response = content.read_response(at, part, has_name=True)
    if not response.id:
        content.drop(Reason.NO_ID, kind="functionResponse", at=at)
        return []
    text = content.output_text(at, response.output)
    media_blocks = [block for media_part in response.parts for block in _to_blocks(content, at, media_part)]
    blocks = [*([{"type": "text", "text": text}] if text else []), *media_blocks]
    data = {
        "content": message_content(blocks) or "",
        "tool_call_id": response.id,
        "status": "error" if response.is_error else "success",
        **({"name": response.name} if response.name else {}),
    }
    return [{"type": "tool", "data": data}]


def _to_blocks(content: ContentReader, at: int, part: Node) -> list[JSON]:
    """Return a part as one block, or record the drop and return none."""
    kind = part_kind(part.value)
    if kind == "text":
        return [{"type": "text", "text": content.read_text(at, part)}]
    if kind == "thought":
        return [_reasoning_block(content, at, part)]
    if kind in MEDIA_FIELDS:
        return [_media_block(content, at, content.read_media(at, part))]
    content.drop(Reason.UNSUPPORTED, kind=kind, at=at)
    return []


def _reasoning_block(content: ContentReader, at: int, part: Node) -> JSON:
    text, signature = content.read_thought(at, part)
    extras = {"extras": {"signature": signature}} if signature else {}
    return {"type": "reasoning", "reasoning": text, **extras}


def _media_block(content: ContentReader, at: int, source: MediaContent) -> JSON:
    """Return media as the blocks that most integrations read: images as OpenAI's, all others as LangChain's own."""
    kind, _ = media.kind_and_format(source.mime)
    content.drop_fields(["displayName"] if source.name else [], at=at, of=source.field)
    if kind == "image":
        url = source.uri or media.data_url(source.mime, source.base64)
        return {"type": "image_url", "image_url": {"url": url}}
    data = {"url": source.uri} if source.uri else {"base64": source.base64}
    return {"type": "file" if kind == "document" else kind, **data, "mime_type": source.mime}
