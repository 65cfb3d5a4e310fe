"""Conversion of messages of LangChain, as its `message_to_dict` writes them, to Contents."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from streambank_client.formats import tool_arguments
from streambank_client.formats.content_builder import ContentBuilder, convert
from streambank_client.formats.conversion import DEFAULTS, Conversion, Options, Reason
from streambank_client.formats.langchain.media_blocks import is_media_block, read_media_block
from streambank_client.formats.node import Node, wrong_type
from streambank_client.formats.tool_names import ToolNames
from streambank_client.formats.tool_output import ToolOutput

_CHUNKS = {
    "HumanMessageChunk": "human",
    "AIMessageChunk": "ai",
    "SystemMessageChunk": "system",
    "ToolMessageChunk": "tool",
}
_ROLES = {"human": "user", "ai": "model", "tool": "user"}


def to_contents(
    messages: Iterable[Any], *, options: Options = DEFAULTS, tool_names: ToolNames | None = None
) -> Conversion:
    """Return the Contents of LangChain messages; *message_id* is the message's id, if it has one.

    Raises:
        ValueError: a field is of a wrong type; names message and field.
    """
    return convert(messages, _convert_message, options=options, tool_names=tool_names)


def _convert_message(builder: ContentBuilder) -> None:
    kind, data = builder.message.text("type"), builder.message.object("data")
    role = _CHUNKS.get(kind, kind)
    builder.message_id = data.optional_text("id")
    if not builder.set_role(role, _ROLES):
        return
    if role != kind:
        builder.drop(Reason.REWRITTEN, kind=kind)
    builder.drop_fields(builder.message.other_fields("type", "data"))
    if role == "tool":
        _add_result(builder, data)
    else:
        _add_blocks_and_calls(builder, data)


def _add_blocks_and_calls(builder: ContentBuilder, data: Node) -> None:
    builder.drop_fields(data.other_fields("type", "id", "content", "tool_calls", "invalid_tool_calls"))
    calls = [*data.objects("tool_calls"), *data.objects("invalid_tool_calls")]
    call_ids = {call.optional_text("id") for call in calls}
    for at, block in enumerate(_content_blocks(data)):
        _add_block(builder, at, block, call_ids)
    for at, call in enumerate(calls):
        _add_call(builder, at, call)


def _content_blocks(data: Node) -> list[Node]:
    """Return a message's content as blocks; the content can be a string, and a list can contain strings."""
    value, path = data.get("content"), f"{data.path}.content"
    if isinstance(value, str):
        value = [value] if value else []
    elif value is not None and not isinstance(value, list):
        raise wrong_type(data, "content", "a string or a list")
    return [
        Node({"type": "text", "text": item} if isinstance(item, str) else item, f"{path}[{index}]")
        for index, item in enumerate(value or [])
    ]


def _add_block(builder: ContentBuilder, at: int, block: Node, call_ids: set[str | None]) -> None:
    kind = block.text("type")
    if kind == "text":
        builder.drop_fields(block.other_fields("type", "text"), at=at, of=kind)
        builder.add_text(block.text("text"), at=at)
    elif kind in ("reasoning", "thinking", "redacted_thinking"):
        _add_reasoning(builder, at, block, kind)
    elif kind in ("tool_use", "tool_call"):
        _add_call_block(builder, at, block, call_ids)
    elif is_media_block(block):
        builder.add_media(read_media_block(builder, at, block), at=at, kind=kind)
    else:
        builder.drop(Reason.UNSUPPORTED, kind=kind or "block", at=at)


def _add_reasoning(builder: ContentBuilder, at: int, block: Node, kind: str) -> None:
    """Add reasoning as LangChain writes it, or thinking as Anthropic writes it."""
    if kind == "redacted_thinking":
        builder.drop(Reason.REASONING, kind=kind, at=at)
        return
    signature = block.optional_text("signature") or block.object("extras").optional_text("signature")
    builder.drop_fields(block.other_fields("type", kind, "signature", "extras"), at=at, of=kind)
    builder.drop_fields(block.object("extras").other_fields("signature"), at=at, of="extras")
    if kind == "thinking" or block.get("signature"):
        builder.drop(Reason.REWRITTEN, kind=kind, at=at)
    builder.add_thought(block.text(kind), signature, at=at, kind=kind)


# ---- tools


def _add_call(builder: ContentBuilder, at: int, call: Node) -> None:
    """Add a call; the arguments of an invalid call are text."""
    builder.drop_fields(call.other_fields("id", "name", "args", "type"), at=at, of="tool_calls")
    args = call.value.get("args", {})
    is_invalid = isinstance(args, str)
    arguments = (tool_arguments.from_text(args)[0], False) if is_invalid else tool_arguments.from_value(args)
    builder.add_call(call.text("name"), arguments, call.optional_text("id"), at=at, kind="tool_calls")


def _add_call_block(builder: ContentBuilder, at: int, block: Node, call_ids: set[str | None]) -> None:
    """Add a call from the content, unless the message's list of calls also contains it, as it usually does."""
    call_id, kind = block.optional_text("id"), block.text("type")
    if call_id in call_ids:
        builder.drop(Reason.REPEATED, kind=kind, at=at)
        return
    builder.drop_fields(block.other_fields("id", "name", "args", "input", "type"), at=at, of=kind)
    builder.drop(Reason.REWRITTEN, kind=kind, at=at)
    arguments = tool_arguments.from_value(block.value.get("args", block.value.get("input", {})))
    builder.add_call(block.text("name"), arguments, call_id, at=at, kind=kind)


def _add_result(builder: ContentBuilder, data: Node) -> None:
    builder.drop_fields(data.other_fields("type", "id", "content", "tool_call_id", "name", "status"))
    output = ToolOutput(builder, at=None, kind="tool")
    for block in _content_blocks(data):
        kind = block.text("type")
        if kind == "text":
            output.add_text(block.text("text"))
        elif kind == "json":
            output.add_json(block.get("json"))
        elif is_media_block(block):
            output.add_media(read_media_block(builder, None, block))
        else:
            builder.drop(Reason.UNSUPPORTED, kind=kind or "block")
    call_id, is_error = data.optional_text("tool_call_id"), data.text("status") == "error"
    builder.add_result(
        data.text("name"), output.value(), call_id, at=None, kind="tool", is_error=is_error, parts=output.parts
    )
