"""Conversion of messages of Koog 0.7 and 0.8 to Contents."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from streambank_client.formats import tool_arguments
from streambank_client.formats.content_builder import ContentBuilder, convert
from streambank_client.formats.conversion import DEFAULTS, Conversion, Options, Reason
from streambank_client.formats.koog import attachments
from streambank_client.formats.koog.metadata import class_name, read_metadata
from streambank_client.formats.tool_names import ToolNames
from streambank_client.formats.tool_output import ToolOutput

_ROLES = {
    "User": "user",
    "Assistant": "model",
    "Tool.Call": "model",
    "Tool.Result": "user",
    "Reasoning": "model",
}
_FIELDS = {
    "Tool.Call": ("id", "tool"),
    "Tool.Result": ("id", "tool"),
    "Reasoning": ("encrypted",),
}


def to_contents(
    messages: Iterable[Any], *, options: Options = DEFAULTS, tool_names: ToolNames | None = None
) -> Conversion:
    """Return the Contents of Koog's messages; *time* is their timestamp, *message_id* their `agentcore.eventId`.

    Raises:
        ValueError: a field is of a wrong type; names message and field.
    """
    return convert(messages, _convert_message, options=options, tool_names=tool_names)


def _convert_message(builder: ContentBuilder) -> None:
    kind = class_name(builder.message).removeprefix("Message.")
    if not builder.set_role(kind, _ROLES):
        return
    read_metadata(builder)
    builder.drop_fields(builder.message.other_fields("type", "parts", "metaInfo", "role", *_FIELDS.get(kind, ())))
    if kind == "Tool.Call":
        _add_call(builder)
    elif kind == "Tool.Result":
        _add_result(builder)
    elif kind == "Reasoning":
        _add_reasoning(builder)
    else:
        _add_parts(builder)


def _add_parts(builder: ContentBuilder) -> None:
    for at, part in enumerate(builder.message.objects("parts")):
        kind = class_name(part).rpartition(".")[2]
        if kind in ("", "text", "Text"):
            builder.drop_fields(part.other_fields("type", "text"), at=at, of="text")
            builder.add_text(part.text("text"), at=at)
        elif kind in attachments.KINDS:
            attachment = attachments.read_attachment(builder, at, part, attachments.KINDS[kind])
            builder.add_media(attachment, at=at, kind=kind)
        else:
            builder.drop(Reason.UNSUPPORTED, kind=kind, at=at)


def _add_call(builder: ContentBuilder) -> None:
    message = builder.message
    arguments = tool_arguments.from_text(_joined_text(builder, "Tool.Call"))
    builder.add_call(message.text("tool"), arguments, message.optional_text("id"), at=None, kind="Tool.Call")


def _add_result(builder: ContentBuilder) -> None:
    message, output = builder.message, ToolOutput(builder, at=None, kind="Tool.Result")
    for part in message.objects("parts"):
        output.add_text(part.text("text"))
    builder.add_result(message.text("tool"), output.value(), message.optional_text("id"), at=None, kind="Tool.Result")


def _add_reasoning(builder: ContentBuilder) -> None:
    text = _joined_text(builder, "Reasoning")
    builder.add_thought(text, builder.message.optional_text("encrypted"), at=None, kind="Reasoning")


def _joined_text(builder: ContentBuilder, kind: str) -> str:
    texts = [part.text("text") for part in builder.message.objects("parts")]
    if len(texts) > 1:
        builder.drop(Reason.REWRITTEN, kind=kind)
    return "\n".join(texts)
