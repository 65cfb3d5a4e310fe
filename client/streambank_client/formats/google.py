"""Google's Content, in both spellings of its fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from streambank_client.formats.conversion import DEFAULTS, Conversion, Converted, Options, Reason, Restored
from streambank_client.formats.draft import Draft, convert
from streambank_client.formats.parts import kind_of, spelled
from streambank_client.formats.restoring import readable
from streambank_client.formats.tool_names import ToolNames

# Older models have their tool results in a role of their own; without a role it is the user's, as for the service.
_ROLES = {"user": "user", "": "user", "model": "model", "function": "user", "tool": "user"}


def to_contents(
    messages: Iterable[Any], *, options: Options = DEFAULTS, tool_names: ToolNames | None = None
) -> Conversion:
    """Return Contents in camelCase, without what is blank, too large or not wanted.

    Keys inside `args`, `response` and other maps of the caller's are not respelled.

    Raises:
        ValueError: a field is of a wrong type; names message and field.
    """
    return convert(messages, _message, options=options, tool_names=tool_names)


def from_contents(contents: Iterable[Converted | Mapping[str, Any]]) -> Restored:
    """Return the Contents as dicts in camelCase: the way there and back changes nothing of what was not dropped.

    Raises:
        ValueError: a field is of a wrong type; names Content and field.
    """
    return Restored(
        tuple({"role": one.role, "parts": [part.value for part in one.parts]} for one in readable(contents))
    )


def _message(draft: Draft) -> None:
    source = draft.source
    role = source.text("role")
    if not draft.begin(role, _ROLES):
        return
    if role in ("function", "tool"):
        draft.drop(Reason.REWRITTEN, kind="role")
    draft.leave(source.others("role", "parts"))
    for at, node in enumerate(source.nodes("parts")):
        _part(draft, at, dict(spelled(node).value))


def _part(draft: Draft, at: int, part: dict[str, Any]) -> None:
    kind = kind_of(part)
    if kind == "part":
        draft.drop(Reason.MALFORMED, kind=kind, at=at)
        return
    if part.get("thought") and not draft.wants_reasoning(kind="thought", at=at):
        return
    if kind == "text":
        draft.text(part.pop("text"), at=at, more=part)
    elif kind == "inlineData":
        blob = part["inlineData"]
        if draft.inline(blob.get("data", ""), "", at=at, kind=kind):
            draft.keep(part, kind=kind, at=at)
    else:
        _note_call(draft, part)
        draft.keep(part, kind=kind, at=at)


def _note_call(draft: Draft, part: Mapping[str, Any]) -> None:
    call = part.get("functionCall")
    if call:
        draft.tools.called(call.get("id"), call.get("name", ""))
