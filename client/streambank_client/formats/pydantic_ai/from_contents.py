"""Conversion of Contents to messages of pydantic-ai."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from streambank_client.formats import tool_arguments
from streambank_client.formats.content_reader import ContentReader, restore
from streambank_client.formats.conversion import JSON, Converted, Reason, Restored
from streambank_client.formats.node import Node
from streambank_client.formats.parts import MEDIA_FIELDS, main_field
from streambank_client.formats.pydantic_ai.media_items import write_media
from streambank_client.formats.times import format_time


def from_contents(contents: Iterable[Converted | Mapping[str, Any]]) -> Restored:
    """Return Contents as requests and responses, and what was dropped of them.

    Raises:
        ValueError: a field is of a wrong type; names Content and field.
    """
    return restore(contents, _to_messages, keeps=("time",))


def _to_messages(content: ContentReader) -> list[JSON]:
    stamp = {"timestamp": format_time(content.time)} if content.time else {}
    if content.role == "model":
        parts = [part for at, node in enumerate(content.parts) for part in _response_part(content, at, node)]
        return [{"kind": "response", "parts": parts, **stamp}] if parts else []
    parts = [{**part, **stamp} for part in _request_parts(content)]
    return [{"kind": "request", "parts": parts}] if parts else []


# ---- requests


def _request_parts(content: ContentReader) -> list[JSON]:
    """Return a user's parts: neighbouring texts and media are one prompt."""
    parts: list[JSON] = []
    prompt: list[Any] = []
    for at, node in enumerate(content.parts):
        if main_field(node.value) == "functionResponse":
            parts += [*_prompt(prompt), *_return(content, at, node, "tool-return")]
            prompt = []
        else:
            prompt += _prompt_item(content, at, node)
    return [*parts, *_prompt(prompt)]


def _prompt(items: list[Any]) -> list[JSON]:
    is_text = len(items) == 1 and isinstance(items[0], str)
    return [{"part_kind": "user-prompt", "content": items[0] if is_text else items}] if items else []


def _prompt_item(content: ContentReader, at: int, part: Node) -> list[Any]:
    field = main_field(part.value)
    if field == "text" and not part.get("thought"):
        return [content.read_text(at, part)]
    if field in MEDIA_FIELDS:
        return [_read_media(content, at, part)]
    content.drop(Reason.UNSUPPORTED, kind="thought" if part.get("thought") else field, at=at)
    return []


def _read_media(content: ContentReader, at: int, part: Node) -> JSON:
    source = content.read_media(at, part)
    if source.name:
        content.drop(Reason.NO_PLACE, kind=f"{source.field}.displayName", at=at)
    return write_media(source)


# ---- responses


def _response_part(content: ContentReader, at: int, part: Node) -> list[JSON]:
    field = main_field(part.value)
    if field == "text" and part.get("thought"):
        text, signature = content.read_thought(at, part)
        return [{"part_kind": "thinking", "content": text, **({"signature": signature} if signature else {})}]
    if field == "text":
        return [{"part_kind": "text", "content": content.read_text(at, part)}]
    if field == "inlineData":
        return [{"part_kind": "file", "content": _read_media(content, at, part)}]
    if field == "functionCall":
        return _call(content, at, part)
    if field == "functionResponse":
        return _return(content, at, part, "builtin-tool-return")
    content.drop(Reason.UNSUPPORTED, kind=field, at=at)
    return []


def _call(content: ContentReader, at: int, part: Node) -> list[JSON]:
    call = content.read_call(at, part)
    if not call.id:
        content.drop(Reason.NO_ID, kind="functionCall", at=at)
        return []
    args = tool_arguments.to_text(call.args)
    return [{"part_kind": "tool-call", "tool_name": call.name, "args": args, "tool_call_id": call.id}]


def _return(content: ContentReader, at: int, part: Node, kind: str) -> list[JSON]:
    response = content.read_response(at, part, has_name=True)
    if not response.id:
        content.drop(Reason.NO_ID, kind="functionResponse", at=at)
        return []
    if response.parts:
        content.drop(Reason.UNSUPPORTED, kind="functionResponse.parts", at=at)
    outcome = {"outcome": "failed"} if response.is_error else {}
    fields = {"tool_name": response.name, "content": response.output, "tool_call_id": response.id}
    return [{"part_kind": kind, **fields, **outcome}]
