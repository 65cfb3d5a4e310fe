"""Contents as messages of Koog 1.x."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from streambank_client.formats import arguments
from streambank_client.formats.conversion import JSON, Converted, Reason, Restored
from streambank_client.formats.koog import PACKAGE, attachment_of, meta_of
from streambank_client.formats.openai_back import as_text
from streambank_client.formats.parts import kind_of
from streambank_client.formats.reading import Node
from streambank_client.formats.restoring import (
    Readable,
    call,
    leave_rest,
    media_of,
    outcome,
    restore,
    signature,
)


def from_contents(contents: Iterable[Converted | Mapping[str, Any]]) -> Restored:
    """Return Contents as Koog's messages, and what of them these cannot say.

    Where no time is known, the timestamp is Koog's own for that.

    Raises:
        ValueError: a field is of a wrong type; names Content and field.
    """
    return restore(contents, _message, keeps=("message_id", "time"))


def _message(content: Readable) -> list[JSON]:
    parts = [found for at, part in enumerate(content.parts) if (found := _part(content, at, part))]
    name = "Assistant" if content.role == "model" else "User"
    meta = meta_of(content.time, content.message_id)
    return [{"type": f"{PACKAGE}Message.{name}", "parts": parts, "metaInfo": meta}] if parts else []


def _part(content: Readable, at: int, part: Node) -> JSON | None:
    kind = kind_of(part.value)
    kind = "thought" if kind == "text" and part.get("thought") else kind
    # Koog's assistants call and reason, its users bring results.
    is_out_of_role = content.role == "user" and kind in ("functionCall", "thought")
    is_out_of_role |= content.role == "model" and kind == "functionResponse"
    if kind not in _PARTS or is_out_of_role:
        content.drop(Reason.UNSUPPORTED, kind=kind, at=at)
        return None
    return _PARTS[kind](content, at, part)


def _typed(name: str, **fields: Any) -> JSON:
    return {"type": f"{PACKAGE}MessagePart.{name}", **fields}


def _text(content: Readable, at: int, part: Node) -> JSON:
    leave_rest(content, at, part)
    return _typed("Text", text=part.text("text"))


def _thought(content: Readable, at: int, part: Node) -> JSON:
    leave_rest(content, at, part, "thoughtSignature")
    signed = signature(content, at, part)
    return _typed("Reasoning", content=[part.text("text")], **({"encrypted": signed} if signed else {}))


def _call(content: Readable, at: int, part: Node) -> JSON:
    found = call(content, at, part)
    return _typed("Tool.Call", id=found.id, tool=found.name, args=arguments.text(found.args))


def _result(content: Readable, at: int, part: Node) -> JSON:
    found = outcome(content, at, part, is_named=True)
    text = as_text(content, at, found.output)
    shown = [_media(content, at, media_part) for media_part in found.parts]
    parts = [*([_typed("Text", text=text)] if text else []), *(one for one in shown if one)]
    failed = {"isError": True} if found.is_error else {}
    return _typed("Tool.Result", id=found.id, tool=found.name, parts=parts, **failed)


def _media(content: Readable, at: int, part: Node) -> JSON | None:
    found = attachment_of(content, at, media_of(content, at, part))
    return _typed("Attachment", source={"type": f"{PACKAGE}AttachmentSource.{found[0]}", **found[1]}) if found else None


_PARTS: dict[str, Callable[[Readable, int, Node], JSON | None]] = {
    "text": _text,
    "thought": _thought,
    "functionCall": _call,
    "functionResponse": _result,
    "inlineData": _media,
    "fileData": _media,
}
