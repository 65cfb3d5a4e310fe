"""Messages of Koog 0.7 and 0.8: calls, results and reasoning are messages of their own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from streambank_client.formats import arguments
from streambank_client.formats.conversion import DEFAULTS, Conversion, Options, Reason
from streambank_client.formats.draft import Draft, convert
from streambank_client.formats.koog import ATTACHMENTS, attachment, class_of, read_meta, texts
from streambank_client.formats.outputs import Output
from streambank_client.formats.reading import Node
from streambank_client.formats.tool_names import ToolNames

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
    """Return the Contents of Koog's messages; *time* is their timestamp, *message_id* `agentcore.eventId`.

    Raises:
        ValueError: a field is of a wrong type; names message and field.
    """
    return convert(messages, _message, options=options, tool_names=tool_names)


def _message(draft: Draft) -> None:
    kind = class_of(draft.source).removeprefix("Message.")
    if not draft.begin(kind, _ROLES):
        return
    read_meta(draft)
    draft.leave(draft.source.others("type", "parts", "metaInfo", "role", *_FIELDS.get(kind, ())))
    if kind == "Tool.Call":
        _call(draft)
    elif kind == "Tool.Result":
        _result(draft)
    elif kind == "Reasoning":
        _reasoning(draft)
    else:
        _spoken(draft)


def _spoken(draft: Draft) -> None:
    for at, part in enumerate(draft.source.nodes("parts")):
        kind = class_of(part).rpartition(".")[2]
        if kind in ("", "text", "Text"):
            draft.leave(part.others("type", "text"), at=at, of="text")
            draft.text(part.text("text"), at=at)
        elif kind in ATTACHMENTS:
            draft.media(attachment(draft, at, part, ATTACHMENTS[kind]), at=at, kind=kind)
        else:
            draft.drop(Reason.UNSUPPORTED, kind=kind, at=at)


def _joined(source: Node, draft: Draft, kind: str) -> str:
    found = list(texts(source, "parts"))
    if len(found) > 1:
        draft.drop(Reason.REWRITTEN, kind=kind)
    return "\n".join(found)


def _call(draft: Draft) -> None:
    source = draft.source
    given = arguments.of_text(_joined(source, draft, "Tool.Call"))
    draft.call(source.text("tool"), given, source.maybe_text("id"), at=None, kind="Tool.Call")


def _result(draft: Draft) -> None:
    source, output = draft.source, Output(draft, at=None, kind="Tool.Result")
    for text in texts(source, "parts"):
        output.text(text)
    draft.result(source.text("tool"), output.value(), source.maybe_text("id"), at=None, kind="Tool.Result")


def _reasoning(draft: Draft) -> None:
    source = draft.source
    text = _joined(source, draft, "Reasoning")
    draft.thought(text, source.maybe_text("encrypted"), at=None, kind="Reasoning")
