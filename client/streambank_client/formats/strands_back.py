"""Contents as messages of Strands Agents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from streambank_client.formats import media
from streambank_client.formats.conversion import JSON, Converted, Reason, Restored
from streambank_client.formats.parts import kind_of
from streambank_client.formats.reading import Node
from streambank_client.formats.restoring import (
    MEDIA,
    Media,
    Outcome,
    Readable,
    call,
    leave_rest,
    media_of,
    outcome,
    restore,
    signature,
)

_FORMATS = {
    "image": frozenset({"png", "jpeg", "gif", "webp"}),
    "document": frozenset({"pdf", "csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md"}),
    "video": frozenset({"flv", "mkv", "mov", "mpeg", "mpg", "mp4", "three_gp", "webm", "wmv"}),
    "audio": frozenset({"mp3", "opus", "wav", "aac", "flac", "mp4", "ogg", "mka", "x-aac", "m4a", "pcm", "webm"}),
}


def from_contents(contents: Iterable[Converted | Mapping[str, Any]]) -> Restored:
    """Return Contents as Strands messages, and what of them Strands has no block for.

    Raises:
        ValueError: a field is of a wrong type; names Content and field.
    """
    return restore(contents, _message, keeps=("message_id",))


def _message(content: Readable) -> list[JSON]:
    blocks = [block for at, part in enumerate(content.parts) if (block := _block(content, at, part))]
    role = "assistant" if content.role == "model" else "user"
    tracked = {"tracking_id": content.message_id} if content.message_id else {}
    return [{"role": role, "content": blocks, **tracked}] if blocks else []


def _block(content: Readable, at: int, part: Node) -> JSON | None:
    kind = kind_of(part.value)
    if kind == "text":
        return _reasoning(content, at, part) if part.get("thought") else _text(content, at, part)
    if kind == "functionCall":
        return _tool_use(content, at, part)
    if kind == "functionResponse":
        return _tool_result(content, at, part)
    if kind in MEDIA:
        return _media(content, at, media_of(content, at, part))
    content.drop(Reason.UNSUPPORTED, kind=kind, at=at)
    return None


def _text(content: Readable, at: int, part: Node) -> JSON:
    leave_rest(content, at, part)
    return {"text": part.text("text")}


def _reasoning(content: Readable, at: int, part: Node) -> JSON:
    leave_rest(content, at, part, "thoughtSignature")
    signed = signature(content, at, part)
    said = {"text": part.text("text"), **({"signature": signed} if signed else {})}
    return {"reasoningContent": {"reasoningText": said}}


def _tool_use(content: Readable, at: int, part: Node) -> JSON | None:
    found = call(content, at, part)
    if not found.id:
        content.drop(Reason.NO_ID, kind="functionCall", at=at)
        return None
    return {"toolUse": {"toolUseId": found.id, "name": found.name, "input": found.args}}


def _tool_result(content: Readable, at: int, part: Node) -> JSON | None:
    found = outcome(content, at, part, is_named=False)
    if not found.id:
        content.drop(Reason.NO_ID, kind="functionResponse", at=at)
        return None
    status = "error" if found.is_error else "success"
    return {"toolResult": {"toolUseId": found.id, "status": status, "content": _items(content, at, found)}}


def _items(content: Readable, at: int, found: Outcome) -> list[JSON]:
    said = {"text": found.output} if isinstance(found.output, str) else {"json": found.output}
    shown = [_media(content, at, media_of(content, at, part)) for part in found.parts]
    return [*([] if found.output == "" else [said]), *(item for item in shown if item)]


def _media(content: Readable, at: int, found: Media) -> JSON | None:
    kind, form = media.kind_and_format(found.mime)
    source = _source(found)
    if source is None or form not in _FORMATS[kind]:
        content.drop(Reason.UNSUPPORTED, kind=found.kind, at=at)
        return None
    if media.mime_type(kind, form) != found.mime:
        content.drop(Reason.REWRITTEN, kind="mimeType", at=at)
    if kind == "document":
        return {kind: {"format": form, "name": found.name or "document", "source": source}}
    content.ledger.leave(["displayName"] if found.name else [], at=at, of=found.kind)
    return {kind: {"format": form, "source": source}}


def _source(found: Media) -> JSON | None:
    """Return where the bytes are: here, or in S3, which is all that Strands can say."""
    if media.is_base64(found.base64) and found.base64:
        return {"bytes": media.decoded(found.base64)}
    return {"location": {"type": "s3", "uri": found.uri}} if found.uri.startswith("s3://") else None
