"""Google's Content, with fields in camelCase or snake_case."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from streambank_client.formats.content_builder import ContentBuilder, convert
from streambank_client.formats.content_reader import read_contents
from streambank_client.formats.conversion import DEFAULTS, Conversion, Converted, Options, Reason, Restored
from streambank_client.formats.parts import main_field, normalize_part
from streambank_client.formats.tool_names import ToolNames

# Older models use a separate role for tool results. A Content without a role is the user's, as in the service.
_ROLES = {"user": "user", "": "user", "model": "model", "function": "user", "tool": "user"}


def to_contents(
    messages: Iterable[Any], *, options: Options = DEFAULTS, tool_names: ToolNames | None = None
) -> Conversion:
    """Return the Contents in camelCase, without parts that are blank, too large or excluded by *options*.

    Keys inside `args`, `response` and other maps of the caller are not changed.

    Raises:
        ValueError: a field is of a wrong type; names message and field.
    """
    return convert(messages, _convert_message, options=options, tool_names=tool_names)


def from_contents(contents: Iterable[Converted | Mapping[str, Any]]) -> Restored:
    """Return the Contents as dicts in camelCase; a round trip changes nothing except what was dropped.

    Raises:
        ValueError: a field is of a wrong type; names Content and field.
    """
    readers = read_contents(contents)
    return Restored(tuple({"role": reader.role, "parts": [part.value for part in reader.parts]} for reader in readers))


def _convert_message(builder: ContentBuilder) -> None:
    message = builder.message
    role = message.text("role")
    if not builder.set_role(role, _ROLES):
        return
    if role in ("function", "tool"):
        builder.drop(Reason.REWRITTEN, kind="role")
    builder.drop_fields(message.other_fields("role", "parts"))
    for at, node in enumerate(message.objects("parts")):
        _add_part(builder, at, dict(normalize_part(node).value))


def _add_part(builder: ContentBuilder, at: int, part: dict[str, Any]) -> None:
    kind = main_field(part)
    if kind == "part":
        builder.drop(Reason.MALFORMED, kind=kind, at=at)
        return
    if part.get("thought") and not builder.includes_reasoning(kind="thought", at=at):
        return
    if kind == "text":
        builder.add_text(part.pop("text"), at=at, fields=part)
    elif kind == "inlineData":
        # The part is kept as it is; `inline_part` checks its bytes and counts them.
        if builder.inline_part(part["inlineData"].get("data", ""), "", at=at, kind=kind):
            builder.add_part(part, kind=kind, at=at)
    else:
        _remember_call(builder, part)
        builder.add_part(part, kind=kind, at=at)


def _remember_call(builder: ContentBuilder, part: Mapping[str, Any]) -> None:
    call = part.get("functionCall")
    if call:
        builder.tools.add_call(call.get("id"), call.get("name", ""))
