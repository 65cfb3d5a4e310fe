"""Media types and encodings: format names and MIME types, base64 and data: URLs."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, unquote_to_bytes

_OFFICE = "application/vnd.openxmlformats-officedocument."
# MIME types that are not kind/format. A MIME type is converted back to the first of its formats.
_MIME_TYPES = {
    ("image", "jpeg"): "image/jpeg",
    ("image", "jpg"): "image/jpeg",
    ("image", "svg"): "image/svg+xml",
    ("document", "csv"): "text/csv",
    ("document", "doc"): "application/msword",
    ("document", "docx"): f"{_OFFICE}wordprocessingml.document",
    ("document", "html"): "text/html",
    ("document", "md"): "text/markdown",
    ("document", "txt"): "text/plain",
    ("document", "xls"): "application/vnd.ms-excel",
    ("document", "xlsx"): f"{_OFFICE}spreadsheetml.sheet",
    ("video", "flv"): "video/x-flv",
    ("video", "mkv"): "video/x-matroska",
    ("video", "mov"): "video/quicktime",
    ("video", "three_gp"): "video/3gpp",
    ("video", "wmv"): "video/x-ms-wmv",
    ("audio", "mp3"): "audio/mpeg",
    ("audio", "mpeg"): "audio/mpeg",
    ("audio", "mpga"): "audio/mpeg",
    ("audio", "mka"): "audio/x-matroska",
    ("audio", "mkv"): "audio/x-matroska",
    ("audio", "m4a"): "audio/x-m4a",
}
_FORMATS = {mime: pair for pair, mime in reversed(_MIME_TYPES.items())}
_EXTENSIONS = {
    **{name: ("image", name) for name in ("png", "jpeg", "jpg", "gif", "webp", "svg")},
    **{name: ("document", name) for name in ("pdf", "csv", "doc", "docx", "html", "md", "txt", "xls", "xlsx", "json")},
    **{name: ("video", name) for name in ("mp4", "webm", "mov", "mkv", "flv", "wmv", "mpg", "mpeg")},
    **{name: ("audio", name) for name in ("mp3", "wav", "ogg", "flac", "aac", "m4a", "opus")},
    "3gp": ("video", "three_gp"),
}
_EXTENSION = re.compile(r"\.([A-Za-z0-9]{1,5})(?:[?#]|$)")
UNKNOWN_MIME_TYPE = "application/octet-stream"
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]*={0,2}")
_MAX_DATA_HEADER_CHARACTERS = 200


def mime_type(kind: str, format_name: str) -> str:
    """Return the MIME type of a format name; *kind* is image, document, video or audio."""
    return (
        _MIME_TYPES.get((kind, format_name)) or f"{'application' if kind == 'document' else kind}/{format_name or '*'}"
    )


def kind_and_format(mime: str) -> tuple[str, str]:
    """Return the kind and the format name of a MIME type; all but images, video and audio are documents."""
    bare = mime.split(";", 1)[0].strip().lower()
    main, _, sub = bare.partition("/")
    return _FORMATS.get(bare) or (main if main in ("image", "video", "audio") else "document", sub)


def is_reversible(kind: str, format_name: str) -> bool:
    """Return whether the format's MIME type is converted back to the same format."""
    return kind_and_format(mime_type(kind, format_name)) == (kind, format_name)


def guess_mime_type(name: str, kind: str | None = None) -> str:
    """Return the MIME type for the extension of a file name or URL, else a general one for *kind*."""
    match = _EXTENSION.search(name.rpartition("/")[2])
    pair = _EXTENSIONS.get(match[1].lower()) if match else None
    if pair and kind in (None, pair[0]):
        return mime_type(*pair)
    return UNKNOWN_MIME_TYPE if kind in (None, "document") else f"{kind}/*"


def to_base64(value: Any) -> str | None:
    """Return *value* as base64, or None if it is not raw bytes, base64 or the form that Strands' sessions store."""
    value = _unwrap(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return b64encode(value).decode()
    return value if isinstance(value, str) and is_base64(value) else None


def size_bytes(value: Any) -> int | None:
    """Return the number of bytes that *value* contains or encodes, in any form that `to_base64` accepts."""
    value = _unwrap(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return len(value)
    return len(value.rstrip("=")) * 3 // 4 if isinstance(value, str) else None


def _unwrap(value: Any) -> Any:
    is_wrapped = isinstance(value, Mapping) and value.get("__bytes_encoded__") is True
    return value.get("data") if is_wrapped else value


def is_base64(text: str) -> bool:
    """Return whether *text* is base64 of either alphabet, as JSON of protocol buffers allows."""
    return bool(_BASE64.fullmatch(text)) and len(text.rstrip("=")) % 4 != 1


def from_base64(text: str) -> bytes:
    """Return the bytes of base64 in either alphabet, padded or not.

    Raises:
        ValueError: the text is not base64.
    """
    if not is_base64(text):
        raise ValueError("not base64")
    bare = text.rstrip("=")
    return b64decode(bare + "=" * (-len(bare) % 4), altchars=b"-_" if "-" in bare or "_" in bare else None)


def data_url(mime: str, base64: str) -> str:
    return f"data:{mime};base64,{base64}"


def is_data_url(url: str) -> bool:
    return url[:5].lower() == "data:"


def parse_data_url(url: str) -> tuple[str, str] | None:
    """Return the MIME type and the base64 of a data: URL, or None if it is malformed."""
    header, comma, body = url[5:].partition(",")
    if not comma or len(header) > _MAX_DATA_HEADER_CHARACTERS:
        return None
    mime = header.removesuffix(";base64")
    try:
        base64 = unquote(body) if mime != header else b64encode(unquote_to_bytes(body)).decode()
    except UnicodeEncodeError:
        return None
    return (mime or "text/plain", base64) if is_base64(base64) else None
