"""Media in messages of pydantic-ai: bytes, or the URL of an image, audio, video or document."""

from __future__ import annotations

from streambank_client.formats import media
from streambank_client.formats.content_builder import ContentBuilder
from streambank_client.formats.content_reader import MediaContent
from streambank_client.formats.conversion import JSON, Reason
from streambank_client.formats.node import Node

_URLS = {"image-url": "image", "audio-url": "audio", "video-url": "video", "document-url": "document"}
# The identifier is derived from the bytes or the URL.
_DERIVED = "identifier"


def read_media(builder: ContentBuilder, at: int, item: Node) -> JSON | None:
    """Return an item as a part, or record the drop and return None."""
    kind = item.text("kind")
    mime = item.text("media_type")
    if kind == "binary":
        builder.drop_fields(item.other_fields("kind", "data", "media_type", _DERIVED), at=at, of=kind)
        return builder.inline_part(item.text("data"), mime or media.UNKNOWN_MIME_TYPE, at=at, kind=kind)
    if kind not in _URLS:
        builder.drop(Reason.UNSUPPORTED, kind=kind or "item", at=at)
        return None
    builder.drop_fields(item.other_fields("kind", "url", "media_type", _DERIVED), at=at, of=kind)
    url = item.text("url")
    mime = mime or media.guess_mime_type(url, _URLS[kind])
    if not item.text("media_type") or media.kind_and_format(mime)[0] != _URLS[kind]:
        builder.drop(Reason.REWRITTEN, kind=kind, at=at)
    return builder.url_part(url, mime, at=at, kind=kind)


def write_media(source: MediaContent) -> JSON:
    """Return media as an item."""
    if source.base64:
        return {"kind": "binary", "data": source.base64, "media_type": source.mime}
    return {
        "kind": f"{media.kind_and_format(source.mime)[0]}-url",
        "url": source.uri,
        "media_type": source.mime,
    }
