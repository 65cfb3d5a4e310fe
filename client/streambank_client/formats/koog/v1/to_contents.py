"""Conversion of messages of Koog 1.x to Contents."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from streambank_client.formats import tool_arguments
from streambank_client.formats.content_builder import ContentBuilder, convert
from streambank_client.formats.conversion import DEFAULTS, JSON, Conversion, Options, Reason
from streambank_client.formats.koog import attachments
from streambank_client.formats.koog.metadata import class_name, read_metadata
from streambank_client.formats.node import Node, wrong_type
from streambank_client.formats.tool_names import ToolNames
from streambank_client.formats.tool_output import ToolOutput

_ROLES = {"User": "user", "Assistant": "model"}


def to_contents(
    messages: Iterable[Any], *, options: Options = DEFAULTS, tool_names: ToolNames | None = None
) -> Conversion:
    """Return the Contents of Koog's messages; *time* is their timestamp, *message_id* their `agentcore.eventId`.

    Raises:
        ValueError: a field is of a wrong type; names message and field.
    """
    return convert(messages, _convert_message, options=options, tool_names=tool_names)


def _convert_message(builder: ContentBuilder) -> None:
    if not builder.set_role(class_name(builder.message).removeprefix("Message."), _ROLES):
        return
    read_metadata(builder)
    builder.drop_fields(builder.message.other_fields("type", "parts", "metaInfo", "role"))
    for at, part in enumerate(builder.message.objects("parts")):
        kind = _part_class(part)
        _PARTS.get(kind, _drop_unsupported)(builder, at, part, kind)


def _part_class(part: Node) -> str:
    """Return the class of a part; the parts of system messages are text and name no class."""
    return class_name(part).removeprefix("MessagePart.") or "Text"


def _drop_unsupported(builder: ContentBuilder, at: int, _part: Node, kind: str) -> None:
    builder.drop(Reason.UNSUPPORTED, kind=kind, at=at)


def _add_text(builder: ContentBuilder, at: int, part: Node, kind: str) -> None:
    builder.drop_fields(part.other_fields("type", "text"), at=at, of=kind)
    builder.add_text(part.text("text"), at=at, kind=kind)


def _add_reasoning(builder: ContentBuilder, at: int, part: Node, kind: str) -> None:
    lines = part.array("content")
    for line in lines:
        if not isinstance(line, str):
            raise wrong_type(part, "content", "a list of strings")
    builder.drop_fields(part.other_fields("type", "content", "encrypted"), at=at, of=kind)
    if len(lines) > 1:
        builder.drop(Reason.REWRITTEN, kind=kind, at=at)
    builder.add_thought("\n".join(lines), part.optional_text("encrypted"), at=at, kind=kind)


def _add_call(builder: ContentBuilder, at: int, part: Node, kind: str) -> None:
    builder.drop_fields(part.other_fields("type", "id", "tool", "args"), at=at, of=kind)
    arguments = tool_arguments.from_text(part.text("args"))
    builder.add_call(part.text("tool"), arguments, part.optional_text("id"), at=at, kind=kind)


def _add_result(builder: ContentBuilder, at: int, part: Node, kind: str) -> None:
    builder.drop_fields(part.other_fields("type", "id", "tool", "parts", "isError"), at=at, of=kind)
    output = ToolOutput(builder, at=at, kind=kind)
    for item in part.objects("parts"):
        name = _part_class(item)
        if name == "Text":
            output.add_text(item.text("text"))
        elif name == "Attachment":
            output.add_media(_read_attachment(builder, at, item))
        else:
            builder.drop(Reason.UNSUPPORTED, kind=f"{kind}.{name}", at=at)
    is_error, call_id = part.get("isError") is True, part.optional_text("id")
    builder.add_result(
        part.text("tool"), output.value(), call_id, at=at, kind=kind, is_error=is_error, parts=output.parts
    )


def _add_attachment(builder: ContentBuilder, at: int, part: Node, kind: str) -> None:
    builder.drop_fields(part.other_fields("type", "source"), at=at, of=kind)
    builder.add_media(_read_attachment(builder, at, part), at=at, kind=kind)


def _read_attachment(builder: ContentBuilder, at: int, part: Node) -> JSON | None:
    source = part.object("source")
    name = class_name(source).removeprefix("AttachmentSource.")
    if name not in attachments.KINDS:
        builder.drop(Reason.UNSUPPORTED, kind=name or "Attachment", at=at)
        return None
    return attachments.read_attachment(builder, at, source, attachments.KINDS[name])


_PARTS: dict[str, Callable[[ContentBuilder, int, Node, str], None]] = {
    "Text": _add_text,
    "Reasoning": _add_reasoning,
    "Tool.Call": _add_call,
    "Tool.Result": _add_result,
    "Attachment": _add_attachment,
}
