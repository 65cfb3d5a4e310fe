"""ChatGPT's export: conversations whose messages are a tree, of which one branch is current."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from streambank_client.formats import tool_arguments
from streambank_client.formats.content_builder import ContentBuilder, convert
from streambank_client.formats.conversion import DEFAULTS, Conversion, Options, Reason
from streambank_client.formats.exports.conversation import ExportedConversation, convert_branch, follow_parents
from streambank_client.formats.node import Node, type_error
from streambank_client.formats.times import read_time
from streambank_client.formats.tool_names import ToolNames

_ROLES = {"user": "user", "assistant": "model", "tool": "user"}
# What the user told about himself in the settings, and the model's own notes.
_INSTRUCTIONS = frozenset({"user_editable_context", "model_editable_context"})
_REASONING = frozenset({"thoughts", "reasoning_recap"})
_TEXT_FIELDS = ("text", "result")


def to_contents(
    messages: Iterable[Any], *, options: Options = DEFAULTS, tool_names: ToolNames | None = None
) -> Conversion:
    """Return the Contents of messages, the `message` of each node; *message_id* is its id.

    Raises:
        ValueError: a field is of a wrong type; names message and field.
    """
    return convert(messages, _convert_message, options=options, tool_names=tool_names)


def read_conversation(conversation: Node, options: Options) -> ExportedConversation:
    """Return a conversation with the messages from `current_node` up to its first ancestor.

    Raises:
        ValueError: a field is of a wrong type, or a message is its own ancestor; names the path.
    """
    mapping = conversation.object("mapping")
    nodes = {str(key): Node(value, f"{mapping.path}.{key}") for key, value in mapping.value.items()}
    parents = {key: node.optional_text("parent") for key, node in nodes.items()}
    leaf = conversation.text("current_node")
    branch = follow_parents(parents, leaf if leaf in nodes else _newest_leaf(nodes), mapping.path)
    with_message = {key for key, node in nodes.items() if node.get("message") is not None}
    messages = [nodes[key].object("message") for key in branch if key in with_message]
    conversion = convert_branch(messages, len(with_message) - len(messages), _convert_message, options=options)
    conversation_id = conversation.optional_text("id") or conversation.optional_text("conversation_id")
    return ExportedConversation(conversation_id, conversation.optional_text("title"), conversion)


def _newest_leaf(nodes: dict[str, Node]) -> str:
    """Return the last node without children, `""` if there is none."""
    parents = {node.optional_text("parent") for node in nodes.values()}
    return next((key for key in reversed(nodes) if key not in parents), next(reversed(nodes), ""))


def _convert_message(builder: ContentBuilder) -> None:
    message = builder.message
    author, content = message.object("author"), message.object("content")
    builder.message_id = message.optional_text("id")
    read_time(builder, message, "create_time")
    kind = content.text("content_type")
    if kind in _INSTRUCTIONS and not builder.options.include_system:
        builder.drop(Reason.SYSTEM, kind=kind)
        return
    if not builder.set_role(author.text("role"), _ROLES):
        return
    builder.drop_fields(message.other_fields("id", "author", "create_time", "content", "recipient", "status"))
    if kind in _REASONING:
        _add_reasoning(builder, content, kind)
        return
    texts = _texts(builder, content, kind)
    recipient = message.text("recipient")
    if author.text("role") == "tool":
        _add_result(builder, author.text("name"), texts)
    elif builder.role == "model" and recipient not in ("", "all"):
        args, _ = tool_arguments.from_text("\n".join(text for _, text in texts))
        builder.add_call(recipient, (args, True), None, at=None, kind="recipient")
    else:
        for at, text in texts:
            builder.add_text(text, at=at, kind=kind or "text")


def _texts(builder: ContentBuilder, content: Node, kind: str) -> list[tuple[int | None, str]]:
    """Return the texts of a content with their positions, and record the parts without text."""
    texts: list[tuple[int | None, str]] = []
    for at, part in enumerate(content.array("parts")):
        if isinstance(part, str):
            texts.append((at, part))
        else:
            texts += _object_text(builder, at, Node(part, f"{content.path}.parts[{at}]"))
    texts += [(None, content.text(name)) for name in _TEXT_FIELDS if content.text(name)]
    builder.drop_fields(content.other_fields("content_type", "parts", *_TEXT_FIELDS), of=kind)
    return texts


def _object_text(builder: ContentBuilder, at: int, part: Node) -> list[tuple[int | None, str]]:
    """Return the text of a transcription; files are only named by the export."""
    kind = part.text("content_type")
    if part.text("text"):
        builder.drop_fields(part.other_fields("content_type", "text"), at=at, of=kind)
        return [(at, part.text("text"))]
    builder.drop(Reason.NO_ADDRESS if kind.endswith("pointer") else Reason.UNSUPPORTED, kind=kind or "part", at=at)
    return []


def _add_reasoning(builder: ContentBuilder, content: Node, kind: str) -> None:
    builder.drop_fields(content.other_fields("content_type", "thoughts", "content"), of=kind)
    for at, thought in enumerate(content.objects("thoughts")):
        builder.add_thought(thought.text("content") or thought.text("summary"), None, at=at, kind=kind)
    value = content.get("content")
    if value is not None and not isinstance(value, str):
        raise type_error(f"{content.path}.content", "a string", value)
    if value:
        builder.add_thought(value, None, at=None, kind=kind)


def _add_result(builder: ContentBuilder, name: str, texts: list[tuple[int | None, str]]) -> None:
    output = "\n".join(text for _, text in texts if text.strip())
    if output:
        builder.add_result(name, output, None, at=None, kind="tool")
    else:
        builder.drop(Reason.BLANK, kind="tool")
