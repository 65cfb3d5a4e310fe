"""Messages of Strands Agents: one dict a message, one key a block, bytes raw or as its sessions keep them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from streambank_client.formats import arguments, media
from streambank_client.formats.conversion import DEFAULTS, JSON, Conversion, Options, Reason
from streambank_client.formats.draft import Draft, convert
from streambank_client.formats.outputs import Output
from streambank_client.formats.reading import Node
from streambank_client.formats.tool_names import ToolNames

_ROLES = {"user": "user", "assistant": "model"}


def to_contents(
    messages: Iterable[Any], *, options: Options = DEFAULTS, tool_names: ToolNames | None = None
) -> Conversion:
    """Return the Contents of Strands messages; *message_id* is the `tracking_id`.

    Raises:
        ValueError: a field is of a wrong type; names message and field.
    """
    return convert(messages, _message, options=options, tool_names=tool_names)


def _message(draft: Draft) -> None:
    source = draft.source
    draft.message_id = source.maybe_text("tracking_id")
    if not draft.begin(source.text("role"), _ROLES):
        return
    draft.leave(source.others("role", "content", "tracking_id"))
    for at, block in enumerate(source.nodes("content")):
        kinds = [kind for kind, value in block.value.items() if value is not None]
        for kind in kinds:
            _BLOCKS.get(kind, _unsupported)(draft, at, block, kind)
        if not kinds:
            draft.drop(Reason.MALFORMED, kind="block", at=at)


def _unsupported(draft: Draft, at: int, _block: Node, kind: str) -> None:
    draft.drop(Reason.UNSUPPORTED, kind=str(kind), at=at)


def _text(draft: Draft, at: int, block: Node, kind: str) -> None:
    draft.text(block.text(kind), at=at)


def _tool_use(draft: Draft, at: int, block: Node, kind: str) -> None:
    use = block.object(kind)
    draft.leave(use.others("toolUseId", "name", "input"), at=at, of=kind)
    given = arguments.of_value(use.value.get("input", {}))
    draft.call(use.text("name"), given, use.maybe_text("toolUseId"), at=at, kind=kind)


def _tool_result(draft: Draft, at: int, block: Node, kind: str) -> None:
    result = block.object(kind)
    draft.leave(result.others("toolUseId", "status", "content"), at=at, of=kind)
    output = Output(draft, at=at, kind=kind)
    for item in result.nodes("content"):
        _result_item(draft, at, item, output)
    is_error = result.text("status") == "error"
    call_id = result.maybe_text("toolUseId")
    draft.result("", output.value(), call_id, at=at, kind=kind, is_error=is_error, parts=output.parts)


def _result_item(draft: Draft, at: int, item: Node, output: Output) -> None:
    for kind, value in item.value.items():
        if kind == "text":
            output.text(item.text(kind))
        elif kind == "json":
            output.json(value)
        elif kind in _MEDIA:
            output.media(_media_part(draft, at, item.object(kind), kind))
        else:
            draft.drop(Reason.UNSUPPORTED, kind=f"toolResult.{kind}", at=at)


_MEDIA = ("image", "document", "video", "audio")


def _media(draft: Draft, at: int, block: Node, kind: str) -> None:
    draft.media(_media_part(draft, at, block.object(kind), kind), at=at, kind=kind)


def _media_part(draft: Draft, at: int, item: Node, kind: str) -> JSON | None:
    form, source = item.text("format"), item.object("source")
    mime, name = media.mime_type(kind, form), item.maybe_text("name")
    draft.leave(item.others("format", "name", "source"), at=at, of=kind)
    draft.leave(source.others("bytes", "location", "s3Location"), at=at, of=f"{kind}.source")
    if not media.comes_back(kind, form):
        draft.drop(Reason.REWRITTEN, kind=f"{kind}.format", at=at)
    if source.get("bytes") is not None:
        return draft.inline(source.get("bytes"), mime, at=at, kind=kind, name=name)
    location = source.node("location") or source.object("s3Location")
    draft.leave(location.others("type", "uri"), at=at, of=f"{kind}.source.location")
    return draft.linked(location.text("uri"), mime, at=at, kind=kind, name=name)


def _reasoning(draft: Draft, at: int, block: Node, kind: str) -> None:
    reasoning = block.object(kind)
    said = reasoning.node("reasoningText")
    if said:
        draft.thought(said.text("text"), said.maybe_text("signature"), at=at, kind=kind)
    if reasoning.get("redactedContent") is not None:
        draft.drop(Reason.REASONING, kind="redactedContent", at=at)
    elif not said:
        draft.drop(Reason.MALFORMED, kind=kind, at=at)


def _citations(draft: Draft, at: int, block: Node, kind: str) -> None:
    """Keep the text alone: what it was cited from is no part of the conversation."""
    draft.drop(Reason.REWRITTEN, kind=kind, at=at)
    for item in block.object(kind).nodes("content"):
        draft.text(item.text("text"), at=at, kind=kind)


_BLOCKS: dict[str, Callable[[Draft, int, Node, str], None]] = {
    "text": _text,
    "toolUse": _tool_use,
    "toolResult": _tool_result,
    "reasoningContent": _reasoning,
    "citationsContent": _citations,
    **dict.fromkeys(_MEDIA, _media),
}
