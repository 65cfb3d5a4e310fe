"""Blocks of media in LangChain's messages, in the forms of OpenAI, LangChain (two) and Anthropic."""

from __future__ import annotations

from streambank_client.formats import media
from streambank_client.formats.content_builder import ContentBuilder
from streambank_client.formats.conversion import JSON, Reason
from streambank_client.formats.node import Node
from streambank_client.formats.openai import media_blocks as openai_media

_KINDS = {"image": "image", "audio": "audio", "video": "video", "file": "document", "text-plain": "document"}
_FIELDS = ("type", "source_type", "mime_type", "media_type", "base64", "data", "url", "text", "file_id", "id")


def is_media_block(block: Node) -> bool:
    return block.text("type") in (*_KINDS, *openai_media.MEDIA_BLOCKS)


def read_media_block(builder: ContentBuilder, at: int | None, block: Node) -> JSON | None:
    """Return a block of media as a part, or record the drop and return None."""
    kind = block.text("type")
    if kind in block.value and kind in openai_media.MEDIA_BLOCKS:
        return openai_media.read_media_block(builder, at, block)
    source = block.optional_object("source") or block
    builder.drop_fields(source.other_fields(*_FIELDS), at=at, of=kind)
    if source is not block or not _is_reversible(source, kind):
        builder.drop(Reason.REWRITTEN, kind=kind, at=at)
    return _source_part(builder, at, kind, source)


def _is_reversible(block: Node, kind: str) -> bool:
    """Return whether `from_contents` would write the same block again."""
    is_own_form = kind in ("audio", "video", "file") and not block.other_fields("type", "base64", "url", "mime_type")
    mime = block.text("mime_type")
    return is_own_form and bool(mime) and media.kind_and_format(mime)[0] == _KINDS[kind]


def _source_part(builder: ContentBuilder, at: int | None, kind: str, source: Node) -> JSON | None:
    url = source.text("url")
    guess = media.guess_mime_type(url, _KINDS.get(kind))
    mime = source.text("mime_type") or source.text("media_type") or guess
    data = source.get("base64") or source.get("data")
    text = source.text("text")
    if data or text:
        value = data or text.encode(errors="surrogatepass")
        return builder.inline_part(value, mime if data else "text/plain", at=at, kind=kind)
    if url:
        return builder.url_part(url, mime, at=at, kind=kind)
    has_id = source.get("file_id") or source.get("id")
    builder.drop(Reason.NO_ADDRESS if has_id else Reason.MALFORMED, kind=kind, at=at)
    return None
