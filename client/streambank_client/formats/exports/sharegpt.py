"""ShareGPT's format: conversations of `from` and `value`, without ids and times."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from streambank_client.formats import tool_arguments
from streambank_client.formats.content_builder import ContentBuilder, convert
from streambank_client.formats.conversion import DEFAULTS, Conversion, Options, Reason
from streambank_client.formats.exports.conversation import ExportedConversation, convert_branch
from streambank_client.formats.node import Node
from streambank_client.formats.tool_names import ToolNames

_ROLES = {
    **dict.fromkeys(("human", "user", "observation", "tool"), "user"),
    **dict.fromkeys(("gpt", "assistant", "chatgpt", "model", "function_call"), "model"),
}


def to_contents(
    messages: Iterable[Any], *, options: Options = DEFAULTS, tool_names: ToolNames | None = None
) -> Conversion:
    """Return the Contents of messages.

    Raises:
        ValueError: a field is of a wrong type; names message and field.
    """
    return convert(messages, _convert_message, options=options, tool_names=tool_names)


def read_conversation(conversation: Node, options: Options) -> ExportedConversation:
    """Return a conversation.

    Raises:
        ValueError: a field is of a wrong type; names the path.
    """
    conversion = convert_branch(conversation.objects("conversations"), 0, _convert_message, options=options)
    return ExportedConversation(conversation.optional_text("id"), conversation.optional_text("title"), conversion)


def _convert_message(builder: ContentBuilder) -> None:
    speaker, text = builder.message.text("from"), builder.message.text("value")
    if not builder.set_role(speaker, _ROLES):
        return
    builder.drop_fields(builder.message.other_fields("from", "value"))
    if speaker == "function_call":
        _add_call(builder, text)
    elif speaker in ("observation", "tool") and text.strip():
        builder.add_result("", text, None, at=None, kind=speaker)
    else:
        builder.add_text(text, at=None, kind="value")


def _add_call(builder: ContentBuilder, text: str) -> None:
    """Add a call, which is JSON with the tool's name and its arguments."""
    try:
        call = json.loads(text)
    except (ValueError, RecursionError):
        call = None
    if not isinstance(call, dict) or not isinstance(call.get("name"), str):
        builder.drop(Reason.MALFORMED, kind="function_call")
        return
    arguments = call.get("arguments", {})
    is_text = isinstance(arguments, str)
    read = tool_arguments.from_text(arguments) if is_text else tool_arguments.from_value(arguments)
    builder.add_call(call["name"], read, None, at=None, kind="function_call")
