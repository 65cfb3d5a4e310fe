"""Claude's export: conversations with `chat_messages`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from streambank_client.formats import tool_arguments
from streambank_client.formats.content_builder import ContentBuilder, convert
from streambank_client.formats.conversion import DEFAULTS, Conversion, Options, Reason
from streambank_client.formats.exports.conversation import ExportedConversation, convert_branch, follow_parents
from streambank_client.formats.node import Node
from streambank_client.formats.times import read_time
from streambank_client.formats.tool_names import ToolNames
from streambank_client.formats.tool_output import ToolOutput

_ROLES = {"human": "user", "user": "user", "assistant": "model"}


def to_contents(
    messages: Iterable[Any], *, options: Options = DEFAULTS, tool_names: ToolNames | None = None
) -> Conversion:
    """Return the Contents of messages; *message_id* is their uuid, *time* their `created_at`.

    Raises:
        ValueError: a field is of a wrong type; names message and field.
    """
    return convert(messages, _convert_message, options=options, tool_names=tool_names)


def read_conversation(conversation: Node, options: Options) -> ExportedConversation:
    """Return a conversation; where messages have several answers, with the current branch.

    Raises:
        ValueError: a field is of a wrong type, or a message is its own ancestor; names the path.
    """
    messages = conversation.objects("chat_messages")
    branch = _branch(conversation, messages)
    conversion = convert_branch(branch, len(messages) - len(branch), _convert_message, options=options)
    return ExportedConversation(conversation.optional_text("uuid"), conversation.optional_text("name"), conversion)


def _branch(conversation: Node, messages: list[Node]) -> list[Node]:
    """Return the messages of the current branch, or all of them if no message has several answers."""
    parents = {message.text("uuid"): message.optional_text("parent_message_uuid") for message in messages}
    answers = Counter(parent for parent in parents.values() if parent)
    if not messages or len(parents) < len(messages) or max(answers.values(), default=0) < 2:
        return messages
    leaf = conversation.text("current_leaf_message_uuid")
    leaf = leaf if leaf in parents else messages[-1].text("uuid")
    by_id = {message.text("uuid"): message for message in messages}
    return [by_id[uuid] for uuid in follow_parents(parents, leaf, f"{conversation.path}.chat_messages")]


def _convert_message(builder: ContentBuilder) -> None:
    message = builder.message
    builder.message_id = message.optional_text("uuid")
    read_time(builder, message, "created_at")
    if not builder.set_role(message.text("sender"), _ROLES):
        return
    known = ("uuid", "sender", "text", "content", "created_at", "attachments", "files", "parent_message_uuid")
    builder.drop_fields(message.other_fields(*known, "updated_at"))
    blocks = message.objects("content")
    for at, block in enumerate(blocks):
        kind = block.text("type")
        _BLOCKS.get(kind, _drop_unsupported)(builder, at, block, kind)
    if not blocks and message.text("text"):
        builder.add_text(message.text("text"), at=None)
    for at, attachment in enumerate(message.objects("attachments")):
        _add_attachment(builder, at, attachment)
    for at, _ in enumerate(message.array("files")):
        builder.drop(Reason.NO_ADDRESS, kind="files", at=at)


def _drop_unsupported(builder: ContentBuilder, at: int, _block: Node, kind: str) -> None:
    builder.drop(Reason.UNSUPPORTED, kind=kind or "block", at=at)


def _drop_other_fields(builder: ContentBuilder, at: int, block: Node, kind: str, *known: str) -> None:
    builder.drop_fields(block.other_fields("type", "start_timestamp", "stop_timestamp", *known), at=at, of=kind)


def _add_text(builder: ContentBuilder, at: int, block: Node, kind: str) -> None:
    _drop_other_fields(builder, at, block, kind, "text")
    builder.add_text(block.text("text"), at=at)


def _add_thinking(builder: ContentBuilder, at: int, block: Node, kind: str) -> None:
    _drop_other_fields(builder, at, block, kind, "thinking", "signature")
    builder.add_thought(block.text("thinking"), block.optional_text("signature"), at=at, kind=kind)


def _add_call(builder: ContentBuilder, at: int, block: Node, kind: str) -> None:
    _drop_other_fields(builder, at, block, kind, "id", "name", "input")
    arguments = tool_arguments.from_value({} if block.get("input") is None else block.get("input"))
    builder.add_call(block.text("name"), arguments, block.optional_text("id"), at=at, kind=kind)


def _add_result(builder: ContentBuilder, at: int, block: Node, kind: str) -> None:
    """Add a tool's result; Claude's export has it in the message of the call."""
    _drop_other_fields(builder, at, block, kind, "tool_use_id", "name", "content", "is_error")
    output = ToolOutput(builder, at=at, kind=kind)
    if isinstance(block.get("content"), str):
        output.add_text(block.text("content"))
    else:
        for item in block.objects("content"):
            if item.text("text"):
                output.add_text(item.text("text"))
            else:
                builder.drop(Reason.UNSUPPORTED, kind=f"{kind}.{item.text('type')}", at=at)
    is_error, call_id = block.get("is_error") is True, block.optional_text("tool_use_id")
    builder.add_result(block.text("name"), output.value(), call_id, at=at, kind=kind, is_error=is_error)


def _add_attachment(builder: ContentBuilder, at: int, attachment: Node) -> None:
    """Add the text of an attached file as a file."""
    kind, text = "attachments", attachment.text("extracted_content")
    builder.drop_fields(attachment.other_fields("file_name", "extracted_content", "file_size"), at=at, of=kind)
    if not text.strip():
        builder.drop(Reason.NO_ADDRESS, kind=kind, at=at)
        return
    name, data = attachment.optional_text("file_name"), text.encode(errors="replace")
    builder.add_media(builder.inline_part(data, "text/plain", at=at, kind=kind, name=name), at=at, kind=kind)


_BLOCKS: dict[str, Callable[[ContentBuilder, int, Node, str], None]] = {
    "text": _add_text,
    "thinking": _add_thinking,
    "tool_use": _add_call,
    "tool_result": _add_result,
}
