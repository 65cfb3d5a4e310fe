"""Conversion of Contents to messages of Strands Agents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from streambank_client.formats import media
from streambank_client.formats.content_reader import ContentReader, FunctionResponse, MediaContent, restore
from streambank_client.formats.conversion import JSON, Converted, Reason, Restored
from streambank_client.formats.node import Node
from streambank_client.formats.parts import MEDIA_FIELDS, part_kind

_FORMATS = {
    "image": frozenset({"png", "jpeg", "gif", "webp"}),
    "document": frozenset({"pdf", "csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md"}),
    "video": frozenset({"flv", "mkv", "mov", "mpeg", "mpg", "mp4", "three_gp", "webm", "wmv"}),
    "audio": frozenset({"mp3", "opus", "wav", "aac", "flac", "mp4", "ogg", "mka", "x-aac", "m4a", "pcm", "webm"}),
}


def from_contents(contents: Iterable[Converted | Mapping[str, Any]]) -> Restored:
    """Return Contents as Strands messages, and what was dropped of them.

    Raises:
        ValueError: a field is of a wrong type; names Content and field.
    """
    return restore(contents, _to_messages, keeps=("message_id",))


def _to_messages(content: ContentReader) -> list[JSON]:
    blocks = [block for at, part in enumerate(content.parts) if (block := _to_block(content, at, part))]
    role = "assistant" if content.role == "model" else "user"
    tracking_id = {"tracking_id": content.message_id} if content.message_id else {}
    return [{"role": role, "content": blocks, **tracking_id}] if blocks else []


def _to_block(content: ContentReader, at: int, part: Node) -> JSON | None:
    kind = part_kind(part.value)
    if kind == "text":
        return {"text": content.read_text(at, part)}
    if kind == "thought":
        return _to_reasoning(content, at, part)
    if kind == "functionCall":
        return _to_tool_use(content, at, part)
    if kind == "functionResponse":
        return _to_tool_result(content, at, part)
    if kind in MEDIA_FIELDS:
        return _to_media(content, at, content.read_media(at, part))
    content.drop(Reason.UNSUPPORTED, kind=kind, at=at)
    return None


def _to_reasoning(content: ContentReader, at: int, part: Node) -> JSON:
    text, signature = content.read_thought(at, part)
    return {"reasoningContent": {"reasoningText": {"text": text, **({"signature": signature} if signature else {})}}}


def _to_tool_use(content: ContentReader, at: int, part: Node) -> JSON | None:
    call = content.read_call(at, part)
    if not call.id:
        content.drop(Reason.NO_ID, kind="functionCall", at=at)
        return None
    return {"toolUse": {"toolUseId": call.id, "name": call.name, "input": call.args}}


def _to_tool_result(content: ContentReader, at: int, part: Node) -> JSON | None:
    response = content.read_response(at, part, has_name=False)
    if not response.id:
        content.drop(Reason.NO_ID, kind="functionResponse", at=at)
        return None
    status = "error" if response.is_error else "success"
    items = _output_items(content, at, response)
    return {"toolResult": {"toolUseId": response.id, "status": status, "content": items}}


def _output_items(content: ContentReader, at: int, response: FunctionResponse) -> list[JSON]:
    output = {"text": response.output} if isinstance(response.output, str) else {"json": response.output}
    media_blocks = [_to_media(content, at, content.read_media(at, part)) for part in response.parts]
    return [*([] if response.output == "" else [output]), *filter(None, media_blocks)]


def _to_media(content: ContentReader, at: int, source: MediaContent) -> JSON | None:
    kind, format_name = media.kind_and_format(source.mime)
    location = _location(source)
    if location is None or format_name not in _FORMATS[kind]:
        content.drop(Reason.UNSUPPORTED, kind=source.field, at=at)
        return None
    if media.mime_type(kind, format_name) != source.mime:
        content.drop(Reason.REWRITTEN, kind="mimeType", at=at)
    if kind == "document":
        return {kind: {"format": format_name, "name": source.name or "document", "source": location}}
    content.drop_fields(["displayName"] if source.name else [], at=at, of=source.field)
    return {kind: {"format": format_name, "source": location}}


def _location(source: MediaContent) -> JSON | None:
    """Return the bytes or the S3 location, or None for other URIs, which Strands does not support."""
    if media.is_base64(source.base64) and source.base64:
        return {"bytes": media.from_base64(source.base64)}
    return {"location": {"type": "s3", "uri": source.uri}} if source.uri.startswith("s3://") else None
