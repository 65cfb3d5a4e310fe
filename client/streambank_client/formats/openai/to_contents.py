"""Conversion of messages of OpenAI's chat completions to Contents."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from streambank_client.formats import tool_arguments
from streambank_client.formats.content_builder import ContentBuilder, convert
from streambank_client.formats.conversion import DEFAULTS, Conversion, Options, Reason
from streambank_client.formats.node import Node, wrong_type
from streambank_client.formats.openai.media_blocks import MEDIA_BLOCKS, read_media_block
from streambank_client.formats.tool_names import ToolNames
from streambank_client.formats.tool_output import ToolOutput

_ROLES = {"user": "user", "assistant": "model", "tool": "user"}


def to_contents(
    messages: Iterable[Any], *, options: Options = DEFAULTS, tool_names: ToolNames | None = None
) -> Conversion:
    """Return the Contents of chat messages, which have neither ids nor times.

    Raises:
        ValueError: a field is of a wrong type; names message and field.
    """
    return convert(messages, _convert_message, options=options, tool_names=tool_names)


def _convert_message(builder: ContentBuilder) -> None:
    message = builder.message
    if not builder.set_role(message.text("role"), _ROLES):
        return
    if message.text("role") == "tool":
        _add_result(builder)
        return
    builder.drop_fields(message.other_fields("role", "content", "tool_calls", "refusal"))
    for at, block in enumerate(_content_blocks(message)):
        _add_block(builder, at, block)
    if message.text("refusal"):
        _add_refusal(builder, None, message)
    for at, call in enumerate(message.objects("tool_calls")):
        _add_call(builder, at, call)


def _content_blocks(message: Node) -> list[Node]:
    """Return a message's content as blocks: a string is one text block; null and `""` are no blocks."""
    value = message.get("content")
    if isinstance(value, str):
        return [Node({"type": "text", "text": value}, f"{message.path}.content")] if value else []
    if value is not None and not isinstance(value, list):
        raise wrong_type(message, "content", "a string or a list")
    return message.objects("content")


def _add_block(builder: ContentBuilder, at: int, block: Node) -> None:
    kind = block.text("type")
    if kind == "text":
        builder.drop_fields(block.other_fields("type", "text"), at=at, of=kind)
        builder.add_text(block.text("text"), at=at)
    elif kind == "refusal":
        _add_refusal(builder, at, block)
    elif kind in MEDIA_BLOCKS:
        builder.add_media(read_media_block(builder, at, block), at=at, kind=kind)
    else:
        builder.drop(Reason.UNSUPPORTED, kind=kind or "block", at=at)


def _add_refusal(builder: ContentBuilder, at: int | None, source: Node) -> None:
    builder.drop(Reason.REWRITTEN, kind="refusal", at=at)
    builder.add_text(source.text("refusal"), at=at, kind="refusal")


# ---- tools


def _add_call(builder: ContentBuilder, at: int, call: Node) -> None:
    function = call.optional_object("function")
    if function is None:
        builder.drop(Reason.UNSUPPORTED, kind=call.text("type") or "tool_calls", at=at)
        return
    builder.drop_fields(call.other_fields("id", "type", "function"), at=at, of="tool_calls")
    arguments = tool_arguments.from_text(function.text("arguments"))
    builder.add_call(function.text("name"), arguments, call.optional_text("id"), at=at, kind="tool_calls")


def _add_result(builder: ContentBuilder) -> None:
    message = builder.message
    builder.drop_fields(message.other_fields("role", "content", "tool_call_id", "name"))
    output = ToolOutput(builder, at=None, kind="tool")
    for block in _content_blocks(message):
        kind = block.text("type")
        if kind == "text":
            output.add_text(block.text("text"))
        elif kind in MEDIA_BLOCKS:
            output.add_media(read_media_block(builder, None, block))
        else:
            builder.drop(Reason.UNSUPPORTED, kind=kind or "block")
    call_id = message.optional_text("tool_call_id")
    builder.add_result(message.text("name"), output.value(), call_id, at=None, kind="tool", parts=output.parts)
