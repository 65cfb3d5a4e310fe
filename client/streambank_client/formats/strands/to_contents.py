"""Conversion of messages of Strands Agents to Contents; bytes are raw, or as Strands' sessions store them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from streambank_client.formats import media, tool_arguments
from streambank_client.formats.content_builder import ContentBuilder, convert
from streambank_client.formats.conversion import DEFAULTS, JSON, Conversion, Options, Reason
from streambank_client.formats.node import Node
from streambank_client.formats.tool_names import ToolNames
from streambank_client.formats.tool_output import ToolOutput

_ROLES = {"user": "user", "assistant": "model"}
_MEDIA_KINDS = ("image", "document", "video", "audio")


def to_contents(
    messages: Iterable[Any], *, options: Options = DEFAULTS, tool_names: ToolNames | None = None
) -> Conversion:
    """Return the Contents of Strands messages; *message_id* is the `tracking_id`.

    Raises:
        ValueError: a field is of a wrong type; names message and field.
    """
    return convert(messages, _convert_message, options=options, tool_names=tool_names)


def _convert_message(builder: ContentBuilder) -> None:
    message = builder.message
    builder.message_id = message.optional_text("tracking_id")
    if not builder.set_role(message.text("role"), _ROLES):
        return
    builder.drop_fields(message.other_fields("role", "content", "tracking_id"))
    for at, block in enumerate(message.objects("content")):
        kinds = [kind for kind, value in block.value.items() if value is not None]
        for kind in kinds:
            _BLOCKS.get(kind, _drop_unsupported)(builder, at, block, kind)
        if not kinds:
            builder.drop(Reason.MALFORMED, kind="block", at=at)


def _drop_unsupported(builder: ContentBuilder, at: int, _block: Node, kind: str) -> None:
    builder.drop(Reason.UNSUPPORTED, kind=str(kind), at=at)


def _add_text(builder: ContentBuilder, at: int, block: Node, kind: str) -> None:
    builder.add_text(block.text(kind), at=at)


def _add_call(builder: ContentBuilder, at: int, block: Node, kind: str) -> None:
    tool_use = block.object(kind)
    builder.drop_fields(tool_use.other_fields("toolUseId", "name", "input"), at=at, of=kind)
    arguments = tool_arguments.from_value(tool_use.value.get("input", {}))
    builder.add_call(tool_use.text("name"), arguments, tool_use.optional_text("toolUseId"), at=at, kind=kind)


def _add_result(builder: ContentBuilder, at: int, block: Node, kind: str) -> None:
    result = block.object(kind)
    builder.drop_fields(result.other_fields("toolUseId", "status", "content"), at=at, of=kind)
    output = ToolOutput(builder, at=at, kind=kind)
    for item in result.objects("content"):
        _add_output_item(builder, at, item, output)
    is_error = result.text("status") == "error"
    call_id = result.optional_text("toolUseId")
    builder.add_result("", output.value(), call_id, at=at, kind=kind, is_error=is_error, parts=output.parts)


def _add_output_item(builder: ContentBuilder, at: int, item: Node, output: ToolOutput) -> None:
    for kind, value in item.value.items():
        if kind == "text":
            output.add_text(item.text(kind))
        elif kind == "json":
            output.add_json(value)
        elif kind in _MEDIA_KINDS:
            output.add_media(_media_part(builder, at, item.object(kind), kind))
        else:
            builder.drop(Reason.UNSUPPORTED, kind=f"toolResult.{kind}", at=at)


def _add_media(builder: ContentBuilder, at: int, block: Node, kind: str) -> None:
    builder.add_media(_media_part(builder, at, block.object(kind), kind), at=at, kind=kind)


def _media_part(builder: ContentBuilder, at: int, item: Node, kind: str) -> JSON | None:
    format_name, source = item.text("format"), item.object("source")
    mime, name = media.mime_type(kind, format_name), item.optional_text("name")
    builder.drop_fields(item.other_fields("format", "name", "source"), at=at, of=kind)
    builder.drop_fields(source.other_fields("bytes", "location", "s3Location"), at=at, of=f"{kind}.source")
    if not media.is_reversible(kind, format_name):
        builder.drop(Reason.REWRITTEN, kind=f"{kind}.format", at=at)
    if source.get("bytes") is not None:
        return builder.inline_part(source.get("bytes"), mime, at=at, kind=kind, name=name)
    location = source.optional_object("location") or source.object("s3Location")
    builder.drop_fields(location.other_fields("type", "uri"), at=at, of=f"{kind}.source.location")
    return builder.url_part(location.text("uri"), mime, at=at, kind=kind, name=name)


def _add_reasoning(builder: ContentBuilder, at: int, block: Node, kind: str) -> None:
    reasoning = block.object(kind)
    text = reasoning.optional_object("reasoningText")
    if text:
        builder.add_thought(text.text("text"), text.optional_text("signature"), at=at, kind=kind)
    if reasoning.get("redactedContent") is not None:
        builder.drop(Reason.REASONING, kind="redactedContent", at=at)
    elif not text:
        builder.drop(Reason.MALFORMED, kind=kind, at=at)


def _add_citations(builder: ContentBuilder, at: int, block: Node, kind: str) -> None:
    """Add the text without its sources, because these are not part of the conversation."""
    builder.drop(Reason.REWRITTEN, kind=kind, at=at)
    for item in block.object(kind).objects("content"):
        builder.add_text(item.text("text"), at=at, kind=kind)


_BLOCKS: dict[str, Callable[[ContentBuilder, int, Node, str], None]] = {
    "text": _add_text,
    "toolUse": _add_call,
    "toolResult": _add_result,
    "reasoningContent": _add_reasoning,
    "citationsContent": _add_citations,
    **dict.fromkeys(_MEDIA_KINDS, _add_media),
}
