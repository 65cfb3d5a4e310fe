"""Messages of Koog 1.x: three kinds of messages, everything else is a part."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from streambank_client.formats import arguments
from streambank_client.formats.conversion import DEFAULTS, JSON, Conversion, Options, Reason
from streambank_client.formats.draft import Draft, convert
from streambank_client.formats.koog import ATTACHMENTS, attachment, class_of, read_meta
from streambank_client.formats.outputs import Output
from streambank_client.formats.reading import Node, wrong_type
from streambank_client.formats.tool_names import ToolNames

_ROLES = {"User": "user", "Assistant": "model"}


def to_contents(
    messages: Iterable[Any], *, options: Options = DEFAULTS, tool_names: ToolNames | None = None
) -> Conversion:
    """Return the Contents of Koog's messages; *time* is their timestamp, *message_id* `agentcore.eventId`.

    Raises:
        ValueError: a field is of a wrong type; names message and field.
    """
    return convert(messages, _message, options=options, tool_names=tool_names)


def _message(draft: Draft) -> None:
    if not draft.begin(class_of(draft.source).removeprefix("Message."), _ROLES):
        return
    read_meta(draft)
    draft.leave(draft.source.others("type", "parts", "metaInfo", "role"))
    for at, part in enumerate(draft.source.nodes("parts")):
        kind = _kind(part)
        _PARTS.get(kind, _unsupported)(draft, at, part, kind)


def _kind(part: Node) -> str:
    """Return what a part is; those of system messages, which are text, name no class."""
    return class_of(part).removeprefix("MessagePart.") or "Text"


def _unsupported(draft: Draft, at: int, _part: Node, kind: str) -> None:
    draft.drop(Reason.UNSUPPORTED, kind=kind, at=at)


def _text(draft: Draft, at: int, part: Node, kind: str) -> None:
    draft.leave(part.others("type", "text"), at=at, of=kind)
    draft.text(part.text("text"), at=at, kind=kind)


def _reasoning(draft: Draft, at: int, part: Node, kind: str) -> None:
    said = part.items("content")
    for line in said:
        if not isinstance(line, str):
            raise wrong_type(part, "content", "a list of strings")
    draft.leave(part.others("type", "content", "encrypted"), at=at, of=kind)
    if len(said) > 1:
        draft.drop(Reason.REWRITTEN, kind=kind, at=at)
    draft.thought("\n".join(said), part.maybe_text("encrypted"), at=at, kind=kind)


def _call(draft: Draft, at: int, part: Node, kind: str) -> None:
    draft.leave(part.others("type", "id", "tool", "args"), at=at, of=kind)
    given = arguments.of_text(part.text("args"))
    draft.call(part.text("tool"), given, part.maybe_text("id"), at=at, kind=kind)


def _result(draft: Draft, at: int, part: Node, kind: str) -> None:
    draft.leave(part.others("type", "id", "tool", "parts", "isError"), at=at, of=kind)
    output = Output(draft, at=at, kind=kind)
    for item in part.nodes("parts"):
        name = _kind(item)
        if name == "Text":
            output.text(item.text("text"))
        elif name == "Attachment":
            output.media(_attached(draft, at, item))
        else:
            draft.drop(Reason.UNSUPPORTED, kind=f"{kind}.{name}", at=at)
    is_error, call_id = part.get("isError") is True, part.maybe_text("id")
    draft.result(part.text("tool"), output.value(), call_id, at=at, kind=kind, is_error=is_error, parts=output.parts)


def _attachment(draft: Draft, at: int, part: Node, kind: str) -> None:
    draft.leave(part.others("type", "source"), at=at, of=kind)
    draft.media(_attached(draft, at, part), at=at, kind=kind)


def _attached(draft: Draft, at: int, part: Node) -> JSON | None:
    source = part.object("source")
    name = class_of(source).removeprefix("AttachmentSource.")
    if name not in ATTACHMENTS:
        draft.drop(Reason.UNSUPPORTED, kind=name or "Attachment", at=at)
        return None
    return attachment(draft, at, source, ATTACHMENTS[name])


_PARTS: dict[str, Callable[[Draft, int, Node, str], None]] = {
    "Text": _text,
    "Reasoning": _reasoning,
    "Tool.Call": _call,
    "Tool.Result": _result,
    "Attachment": _attachment,
}
