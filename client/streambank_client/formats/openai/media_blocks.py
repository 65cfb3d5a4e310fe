"""Blocks of media in OpenAI's messages, which LangChain's messages use as well."""

from __future__ import annotations

from collections.abc import Callable

from streambank_client.formats import media
from streambank_client.formats.content_builder import ContentBuilder
from streambank_client.formats.conversion import JSON, Reason
from streambank_client.formats.node import Node


def read_media_block(builder: ContentBuilder, at: int | None, block: Node) -> JSON | None:
    """Return a block of media as a part, or record the drop and return None."""
    kind = block.text("type")
    builder.drop_fields(block.other_fields("type", kind), at=at, of=kind)
    return _READERS[kind](builder, at, block)


def _read_image(builder: ContentBuilder, at: int | None, block: Node) -> JSON | None:
    """Read an image: an object with a URL, or the URL alone, as LangChain allows."""
    if isinstance(block.get("image_url"), str):
        url = block.text("image_url")
        builder.drop(Reason.REWRITTEN, kind="image_url", at=at)
    else:
        image = block.object("image_url")
        builder.drop_fields(image.other_fields("url"), at=at, of="image_url")
        url = image.text("url")
    if media.is_data_url(url):
        if not url[5:].startswith("image/"):
            builder.drop(Reason.REWRITTEN, kind="image_url", at=at)
        return builder.data_url_part(url, at=at, kind="image_url")
    return builder.url_part(url, media.guess_mime_type(url, "image"), at=at, kind="image_url")


def _read_audio(builder: ContentBuilder, at: int | None, block: Node) -> JSON | None:
    audio = block.object("input_audio")
    format_name = audio.text("format")
    if not media.is_reversible("audio", format_name):
        builder.drop(Reason.REWRITTEN, kind="input_audio.format", at=at)
    builder.drop_fields(audio.other_fields("data", "format"), at=at, of="input_audio")
    mime = media.mime_type("audio", format_name)
    return builder.inline_part(audio.text("data"), mime, at=at, kind="input_audio")


def _read_file(builder: ContentBuilder, at: int | None, block: Node) -> JSON | None:
    """Read a file whose data is a data: URL or base64; a file that is only an id has no address."""
    file = block.object("file")
    name, data = file.optional_text("filename"), file.text("file_data")
    if not data:
        has_id = bool(file.text("file_id"))
        builder.drop(Reason.NO_ADDRESS if has_id else Reason.MALFORMED, kind="file", at=at)
        return None
    builder.drop_fields(file.other_fields("file_data", "filename"), at=at, of="file")
    is_url = media.is_data_url(data)
    if not is_url or (not name and data[5:].startswith(("image/", "audio/"))):
        builder.drop(Reason.REWRITTEN, kind="file", at=at)
    if is_url:
        return builder.data_url_part(data, at=at, kind="file", name=name)
    return builder.inline_part(data, media.guess_mime_type(name or ""), at=at, kind="file", name=name)


_READERS: dict[str, Callable[[ContentBuilder, int | None, Node], JSON | None]] = {
    "image_url": _read_image,
    "input_audio": _read_audio,
    "file": _read_file,
}
MEDIA_BLOCKS = frozenset(_READERS)
