"""Attachments in both versions of Koog's JSON."""

from __future__ import annotations

from typing import Any

from streambank_client.formats import media
from streambank_client.formats.content_builder import ContentBuilder
from streambank_client.formats.content_reader import ContentReader, MediaContent
from streambank_client.formats.conversion import JSON, Reason
from streambank_client.formats.koog.metadata import PACKAGE, class_name
from streambank_client.formats.node import Node

KINDS = {"Image": "image", "Video": "video", "Audio": "audio", "File": "document"}
_CLASSES = {kind: name for name, kind in KINDS.items()}
# Format names in this package are those of Strands; Koog has another name for this one.
_FORMATS = {"three_gp": "3gp"}


def read_attachment(builder: ContentBuilder, at: int | None, node: Node, kind: str) -> JSON | None:
    """Return an attachment of *kind* as a part, or record the drop and return None."""
    format_name, content = node.text("format"), node.object("content")
    mime, name = node.text("mimeType") or media.mime_type(kind, format_name), node.optional_text("fileName")
    builder.drop_fields(node.other_fields("type", "content", "format", "mimeType", "fileName"), at=at, of=kind)
    content_class = class_name(content).removeprefix("AttachmentContent.")
    is_same_type = _type_fields(mime) == _source_type_fields(node, kind)
    if not is_same_type or content_class not in ("Binary.Base64", "URL"):
        builder.drop(Reason.REWRITTEN, kind=f"{kind}.format", at=at)
    if content_class == "URL":
        return builder.url_part(content.text("url"), mime, at=at, kind=kind, name=name)
    return builder.inline_part(_read_bytes(content), mime, at=at, kind=kind, name=name)


def _read_bytes(content: Node) -> Any:
    """Return bytes as base64 or raw; Kotlin also writes them as a list of signed numbers, or as plain text."""
    data = content.get("data")
    if isinstance(data, list) and all(isinstance(number, int) for number in data):
        return bytes(number & 0xFF for number in data)
    text = content.text("text")
    return text.encode(errors="surrogatepass") if text else content.text("base64")


def _type_fields(mime: str) -> JSON:
    """Return kind, format and MIME type of an attachment; Koog leaves out a MIME type that follows from the others."""
    kind, format_name = media.kind_and_format(mime)
    format_name = _FORMATS.get(format_name, format_name)
    return {"kind": kind, "format": format_name, **_mime_field(kind, format_name, mime)}


def _source_type_fields(node: Node, kind: str) -> JSON:
    mime, format_name = node.text("mimeType"), node.text("format")
    return {"kind": kind, "format": format_name, **(_mime_field(kind, format_name, mime) if mime else {})}


def _mime_field(kind: str, format_name: str, mime: str) -> JSON:
    is_implied = kind != "document" and mime == f"{kind}/{format_name}"
    return {} if is_implied else {"mimeType": mime}


def to_attachment(content: ContentReader, at: int, source: MediaContent, family: str) -> JSON | None:
    """Return an attachment whose class is of *family*, or record the drop and return None if it has no content."""
    fields = _type_fields(source.mime)
    kind = fields.pop("kind")
    if not source.uri and not source.base64:
        content.drop(Reason.MALFORMED, kind=source.field, at=at)
        return None
    name = {"fileName": source.name} if source.name else {}
    return {"type": f"{PACKAGE}{family}.{_CLASSES[kind]}", "content": _content(source), **fields, **name}


def _content(source: MediaContent) -> JSON:
    if source.uri:
        return {"type": f"{PACKAGE}AttachmentContent.URL", "url": source.uri}
    return {"type": f"{PACKAGE}AttachmentContent.Binary.Base64", "base64": source.base64}
