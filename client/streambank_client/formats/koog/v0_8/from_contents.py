"""Conversion of Contents to messages of Koog 0.7 and 0.8."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

from streambank_client.formats import tool_arguments
from streambank_client.formats.content_reader import ContentReader, restore
from streambank_client.formats.conversion import JSON, Converted, Reason, Restored
from streambank_client.formats.koog.attachments import to_attachment
from streambank_client.formats.koog.metadata import PACKAGE, to_metadata
from streambank_client.formats.node import Node
from streambank_client.formats.parts import MEDIA_FIELDS, main_field, part_kind

_MESSAGE_KINDS = ("functionCall", "functionResponse", "thought")


def from_contents(contents: Iterable[Converted | Mapping[str, Any]]) -> Restored:
    """Return Contents as Koog's messages, and what was dropped of them.

    Each call, result and thought becomes a separate message, in the order of the parts. The first message of a
    Content has its id. If the time is not known, the timestamp is the one that Koog writes in that case.

    Raises:
        ValueError: a field is of a wrong type; names Content and field.
    """
    return restore(contents, _to_messages, keeps=("message_id", "time"))


def _to_messages(content: ContentReader) -> list[JSON]:
    messages: list[JSON] = []
    for _, group in groupby(enumerate(content.parts), key=lambda pair: _group_key(*pair)):
        messages += _group_messages(content, list(group))
    return [
        {**message, "metaInfo": to_metadata(content.time, None if place else content.message_id)}
        for place, message in enumerate(messages)
    ]


def _group_key(at: int, part: Node) -> int:
    """Return the key for `groupby`: a part that becomes a message is a group alone, other neighbours form one group."""
    return at if part_kind(part.value) in _MESSAGE_KINDS else -1


def _group_messages(content: ContentReader, group: list[tuple[int, Node]]) -> list[JSON]:
    at, part = group[0]
    kind = part_kind(part.value)
    if kind == "functionCall":
        return [_to_call(content, at, part)]
    if kind == "functionResponse":
        return [_to_result(content, at, part)]
    if kind == "thought":
        return [_to_reasoning(content, at, part)]
    parts = [koog_part for at, part in group if (koog_part := _to_part(content, at, part))]
    name = "Assistant" if content.role == "model" else "User"
    return [{"type": f"{PACKAGE}Message.{name}", "parts": parts}] if parts else []


def _to_part(content: ContentReader, at: int, part: Node) -> JSON | None:
    kind = main_field(part.value)
    if kind == "text":
        return {"type": "text", "text": content.read_text(at, part)}
    if kind in MEDIA_FIELDS:
        return to_attachment(content, at, content.read_media(at, part), "ContentPart")
    content.drop(Reason.UNSUPPORTED, kind=kind, at=at)
    return None


def _to_call(content: ContentReader, at: int, part: Node) -> JSON:
    call = content.read_call(at, part)
    text = {"text": tool_arguments.to_text(call.args)}
    return {"type": f"{PACKAGE}Message.Tool.Call", "id": call.id, "tool": call.name, "parts": [text]}


def _to_result(content: ContentReader, at: int, part: Node) -> JSON:
    response = content.read_response(at, part, has_name=True)
    if response.is_error:
        content.drop(Reason.REWRITTEN, kind="functionResponse.error", at=at)
    if response.parts:
        content.drop(Reason.UNSUPPORTED, kind="functionResponse.parts", at=at)
    text = content.output_text(at, response.output)
    parts = [{"text": text}] if text else []
    return {"type": f"{PACKAGE}Message.Tool.Result", "id": response.id, "tool": response.name, "parts": parts}


def _to_reasoning(content: ContentReader, at: int, part: Node) -> JSON:
    text, signature = content.read_thought(at, part)
    encrypted = {"encrypted": signature} if signature else {}
    return {"type": f"{PACKAGE}Message.Reasoning", **encrypted, "parts": [{"text": text}]}
