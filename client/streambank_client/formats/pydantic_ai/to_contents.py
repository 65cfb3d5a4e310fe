"""Conversion of messages of pydantic-ai to Contents."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from streambank_client.formats import tool_arguments
from streambank_client.formats.content_builder import ContentBuilder, convert
from streambank_client.formats.conversion import DEFAULTS, Conversion, Options, Reason
from streambank_client.formats.node import Node
from streambank_client.formats.pydantic_ai.media_items import read_media
from streambank_client.formats.pydantic_ai.timestamps import read_timestamps
from streambank_client.formats.pydantic_ai.user_prompt import add_user_prompt
from streambank_client.formats.tool_names import ToolNames

_ROLES = {"request": "user", "response": "model"}


def to_contents(
    messages: Iterable[Any], *, options: Options = DEFAULTS, tool_names: ToolNames | None = None
) -> Conversion:
    """Return the Contents of requests and responses; *time* is their timestamp, or that of the first part with one.

    Raises:
        ValueError: a field is of a wrong type; names message and field.
    """
    return convert(messages, _convert_message, options=options, tool_names=tool_names)


def _convert_message(builder: ContentBuilder) -> None:
    message = builder.message
    if not builder.set_role(message.text("kind"), _ROLES):
        return
    read_timestamps(builder)
    builder.drop_fields(message.other_fields("kind", "parts", "timestamp"))
    previous = ""
    for at, part in enumerate(message.objects("parts")):
        kind = part.text("part_kind")
        if kind == previous == "user-prompt":
            builder.drop(Reason.REWRITTEN, kind=kind, at=at)
        _PARTS.get(kind, _drop_unsupported)(builder, at, part, kind)
        previous = kind


def _drop_unsupported(builder: ContentBuilder, at: int, _part: Node, kind: str) -> None:
    builder.drop(Reason.UNSUPPORTED, kind=kind or "part", at=at)


def _drop_other_fields(builder: ContentBuilder, at: int, part: Node, kind: str, *known: str) -> None:
    builder.drop_fields(part.other_fields("part_kind", "timestamp", *known), at=at, of=kind)


def _add_system_prompt(builder: ContentBuilder, at: int, part: Node, kind: str) -> None:
    builder.add_system_text(part.text("content"), at=at, kind=kind)


def _add_user_prompt(builder: ContentBuilder, at: int, part: Node, kind: str) -> None:
    _drop_other_fields(builder, at, part, kind, "content")
    add_user_prompt(builder, at, part, kind)


def _add_text(builder: ContentBuilder, at: int, part: Node, kind: str) -> None:
    _drop_other_fields(builder, at, part, kind, "content")
    builder.add_text(part.text("content"), at=at, kind=kind)


def _add_thinking(builder: ContentBuilder, at: int, part: Node, kind: str) -> None:
    _drop_other_fields(builder, at, part, kind, "content", "signature")
    builder.add_thought(part.text("content"), part.optional_text("signature"), at=at, kind=kind)


def _add_file(builder: ContentBuilder, at: int, part: Node, kind: str) -> None:
    _drop_other_fields(builder, at, part, kind, "content")
    builder.add_media(read_media(builder, at, part.object("content")), at=at, kind=kind)


# ---- tools


def _add_call(builder: ContentBuilder, at: int, part: Node, kind: str) -> None:
    """Add a call; the arguments are JSON text or an object."""
    _drop_other_fields(builder, at, part, kind, "tool_name", "args", "tool_call_id")
    if kind != "tool-call":
        builder.drop(Reason.REWRITTEN, kind=kind, at=at)
    args = {} if part.get("args") is None else part.get("args")
    arguments = tool_arguments.from_text(args) if isinstance(args, str) else tool_arguments.from_value(args)
    builder.add_call(part.text("tool_name"), arguments, part.optional_text("tool_call_id"), at=at, kind=kind)


def _add_return(builder: ContentBuilder, at: int, part: Node, kind: str) -> None:
    _drop_other_fields(builder, at, part, kind, "tool_name", "content", "tool_call_id", "outcome")
    outcome = part.text("outcome") or "success"
    if outcome not in ("success", "failed") or kind != "tool-return":
        builder.drop(Reason.REWRITTEN, kind=kind, at=at)
    _add_result(builder, at, part, kind, is_error=outcome != "success")


def _add_retry(builder: ContentBuilder, at: int, part: Node, kind: str) -> None:
    """Add a failed call's result; without a tool the framework itself asks the model to try again."""
    if not part.text("tool_name"):
        builder.drop(Reason.UNSUPPORTED, kind=kind, at=at)
        return
    _drop_other_fields(builder, at, part, kind, "tool_name", "content", "tool_call_id")
    builder.drop(Reason.REWRITTEN, kind=kind, at=at)
    _add_result(builder, at, part, kind, is_error=True)


def _add_result(builder: ContentBuilder, at: int, part: Node, kind: str, *, is_error: bool) -> None:
    name, call_id = part.text("tool_name"), part.optional_text("tool_call_id")
    builder.add_result(name, part.get("content"), call_id, at=at, kind=kind, is_error=is_error)


_PARTS: dict[str, Callable[[ContentBuilder, int, Node, str], None]] = {
    "system-prompt": _add_system_prompt,
    "user-prompt": _add_user_prompt,
    "text": _add_text,
    "thinking": _add_thinking,
    "file": _add_file,
    "tool-call": _add_call,
    "tool-return": _add_return,
    "retry-prompt": _add_retry,
    "builtin-tool-call": _add_call,
    "builtin-tool-return": _add_return,
}
