"""What both generations of Koog's JSON share: class names, times, attachments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from streambank_client.formats import media
from streambank_client.formats.conversion import JSON, Reason
from streambank_client.formats.draft import Draft
from streambank_client.formats.reading import Node
from streambank_client.formats.restoring import Media, Readable

PACKAGE = "ai.koog.prompt.message."
EVENT_ID = "agentcore.eventId"
# Kotlin's Instant.DISTANT_PAST, which Koog writes where it knows no time.
NO_TIME = "-100001-12-31T23:59:59.999999999Z"
ATTACHMENTS = {"Image": "image", "Video": "video", "Audio": "audio", "File": "document"}
_CLASSES = {kind: name for name, kind in ATTACHMENTS.items()}
_INSTANT = re.compile(r"(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?Z")
# The one format that Strands, after whom formats are named here, calls by another name.
_FORMATS = {"three_gp": "3gp"}


def class_of(node: Node) -> str:
    """Return the name of an object's class without its package, `""` where its class is plain from its place."""
    return node.text("type").removeprefix(PACKAGE)


def read_meta(draft: Draft) -> None:
    """Take time and event id of a message, and note what else its metadata holds."""
    meta = draft.source.object("metaInfo")
    draft.leave(meta.others("timestamp", "metadata"), of="metaInfo")
    metadata = meta.object("metadata")
    draft.leave(metadata.others(EVENT_ID), of="metaInfo.metadata")
    draft.message_id = metadata.maybe_text(EVENT_ID)
    stamp = meta.text("timestamp")
    draft.time = _time(stamp)
    if stamp not in ("", NO_TIME) and not draft.time:
        draft.drop(Reason.MALFORMED, kind="metaInfo.timestamp")


def _time(stamp: str) -> datetime | None:
    """Return an instant, to the microsecond; None if it is none that Python knows."""
    found = _INSTANT.fullmatch(stamp)
    try:
        return datetime.fromisoformat(f"{found[1]}.{(found[2] or '0')[:6].ljust(6, '0')}+00:00") if found else None
    except ValueError:
        return None


def meta_of(time: datetime | None, message_id: str | None) -> JSON:
    """Return the metadata of a message."""
    told = {"metadata": {EVENT_ID: message_id}} if message_id else {}
    return {"timestamp": _stamp(time) if time else NO_TIME, **told}


def _stamp(time: datetime) -> str:
    """Return a time as Kotlin writes it: no fraction, or three digits, or six."""
    moment = time.astimezone(UTC).replace(tzinfo=None)
    spec = "seconds" if not moment.microsecond else "microseconds" if moment.microsecond % 1000 else "milliseconds"
    return moment.isoformat(timespec=spec) + "Z"


# ---- attachments


def attachment(draft: Draft, at: int | None, node: Node, kind: str) -> JSON | None:
    """Return an attachment, whose class says what *kind* it is of, as a part."""
    form, content = node.text("format"), node.object("content")
    mime, name = node.text("mimeType") or media.mime_type(kind, form), node.maybe_text("fileName")
    draft.leave(node.others("type", "content", "format", "mimeType", "fileName"), at=at, of=kind)
    where = class_of(content).removeprefix("AttachmentContent.")
    if _described(mime) != _given(node, kind) or where not in ("Binary.Base64", "URL"):
        draft.drop(Reason.REWRITTEN, kind=f"{kind}.format", at=at)
    if where == "URL":
        return draft.linked(content.text("url"), mime, at=at, kind=kind, name=name)
    return draft.inline(_bytes(content), mime, at=at, kind=kind, name=name)


def _bytes(content: Node) -> Any:
    """Return bytes as base64 or raw: Kotlin also writes them as a list of signed numbers, and text as text."""
    data = content.get("data")
    if isinstance(data, list) and all(isinstance(one, int) for one in data):
        return bytes(one & 0xFF for one in data)
    text = content.text("text")
    return text.encode(errors="surrogatepass") if text else content.text("base64")


def _described(mime: str) -> JSON:
    """Return the fields that say what an attachment of a MIME type is; Koog leaves out a type that it would guess."""
    kind, form = media.kind_and_format(mime)
    form = _FORMATS.get(form, form)
    is_guessed = kind != "document" and mime == f"{kind}/{form}"
    return {"kind": kind, "format": form, **({} if is_guessed else {"mimeType": mime})}


def _given(node: Node, kind: str) -> JSON:
    mime, form = node.text("mimeType"), node.text("format")
    is_guessed = kind != "document" and mime == f"{kind}/{form}"
    return {"kind": kind, "format": form, **({"mimeType": mime} if mime and not is_guessed else {})}


def attachment_of(content: Readable, at: int, found: Media) -> tuple[str, JSON] | None:
    """Return the class of an attachment and its fields; None, and a note, if there is nothing attached."""
    described = _described(found.mime)
    kind = described.pop("kind")
    if not found.uri and not found.base64:
        content.drop(Reason.MALFORMED, kind=found.kind, at=at)
        return None
    named = {"fileName": found.name} if found.name else {}
    return _CLASSES[kind], {"content": _content(found), **described, **named}


def _content(found: Media) -> JSON:
    if found.uri:
        return {"type": f"{PACKAGE}AttachmentContent.URL", "url": found.uri}
    return {"type": f"{PACKAGE}AttachmentContent.Binary.Base64", "base64": found.base64}


def texts(node: Node, name: str) -> Iterator[str]:
    """Yield the texts of a list of text parts, which name no class."""
    for part in node.nodes(name):
        yield part.text("text")
