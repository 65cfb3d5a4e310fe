"""Media types and encodings: formats and MIME types both ways, base64 in its spellings, data: URLs."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, unquote_to_bytes

_OFFICE = "application/vnd.openxmlformats-officedocument."
# What is not simply kind/format. The first format of a MIME type is the one that it is turned back into.
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
UNKNOWN = "application/octet-stream"
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]*={0,2}")
_MAX_DATA_HEADER = 200


def mime_type(kind: str, form: str) -> str:
    """Return the MIME type of a format name of *kind*: image, document, video, audio."""
    return _MIME_TYPES.get((kind, form)) or f"{'application' if kind == 'document' else kind}/{form or '*'}"


def kind_and_format(mime: str) -> tuple[str, str]:
    """Return kind and format name of a MIME type; what is neither image, video nor audio is a document."""
    bare = mime.split(";", 1)[0].strip().lower()
    main, _, sub = bare.partition("/")
    return _FORMATS.get(bare) or (main if main in ("image", "video", "audio") else "document", sub)


def comes_back(kind: str, form: str) -> bool:
    """Tell whether the format's MIME type leads back to it."""
    return kind_and_format(mime_type(kind, form)) == (kind, form)


def guessed(name: str, kind: str | None = None) -> str:
    """Return the MIME type that the extension of a file name or URL promises, else what *kind* allows to say."""
    found = _EXTENSION.search(name.rpartition("/")[2])
    pair = _EXTENSIONS.get(found[1].lower()) if found else None
    if pair and kind in (None, pair[0]):
        return mime_type(*pair)
    return UNKNOWN if kind in (None, "document") else f"{kind}/*"


def encoded(value: Any) -> str | None:
    """Return bytes as base64: raw, as base64, or as Strands' sessions keep them; None if it is none of these."""
    value = _unwrapped(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return b64encode(value).decode()
    return value if isinstance(value, str) and is_base64(value) else None


def size(value: Any) -> int | None:
    """Return how many bytes *value* holds or stands for, in one of the spellings of `encoded`."""
    value = _unwrapped(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return len(value)
    return len(value.rstrip("=")) * 3 // 4 if isinstance(value, str) else None


def _unwrapped(value: Any) -> Any:
    is_wrapped = isinstance(value, Mapping) and value.get("__bytes_encoded__") is True
    return value.get("data") if is_wrapped else value


def is_base64(text: str) -> bool:
    """Tell whether *text* is base64, of either alphabet, as JSON of protocol buffers may have it."""
    return bool(_BASE64.fullmatch(text)) and len(text.rstrip("=")) % 4 != 1


def decoded(text: str) -> bytes:
    """Return the bytes of base64 in either alphabet, padded or not. Raises ValueError if it is not base64."""
    if not is_base64(text):
        raise ValueError("not base64")
    bare = text.rstrip("=")
    return b64decode(bare + "=" * (-len(bare) % 4), altchars=b"-_" if "-" in bare or "_" in bare else None)


def data_url(mime: str, base64: str) -> str:
    return f"data:{mime};base64,{base64}"


def is_data_url(url: str) -> bool:
    return url[:5].lower() == "data:"


def opened(url: str) -> tuple[str, str] | None:
    """Return MIME type and base64 of a data: URL, None if it is not a well-formed one."""
    header, comma, body = url[5:].partition(",")
    if not comma or len(header) > _MAX_DATA_HEADER:
        return None
    mime = header.removesuffix(";base64")
    try:
        base64 = unquote(body) if mime != header else b64encode(unquote_to_bytes(body)).decode()
    except UnicodeEncodeError:
        return None
    return (mime or "text/plain", base64) if is_base64(base64) else None
