"""Pages: their size, and opaque tokens that belong to one listing."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from typing import Any

from streambank.errors import InvalidArgument

DEFAULT_PAGE = 100
MAX_PAGE = 1_000
# Longer than any id that the service gives or accepts.
MAX_ID = 256
# A token of the change feed remembers what was told; API Gateway takes 10,240 bytes of request line and headers.
MAX_TOKEN = 4_096
_SIGNATURE_BYTES = 16


def page_size(text: str | None) -> int:
    """Return the page size in a query parameter: 1 to 1,000, by default 100. Raises InvalidArgument."""
    if not text:
        return DEFAULT_PAGE
    if not text.isascii() or not text.isdigit() or len(text) > 6 or int(text) > MAX_PAGE:
        raise InvalidArgument("pageSize", f"must be a whole number from 0 to {MAX_PAGE}")
    return int(text) or DEFAULT_PAGE


def token(listing: str, position: list[Any], *, secret: bytes) -> str:
    """Return an opaque, signed token for *position* in *listing*, which names the list with its filter and order."""
    raw = json.dumps(position, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(_signature(listing, raw, secret) + raw).decode().rstrip("=")


def position(listing: str, text: str | None, shape: tuple[type, ...], *, secret: bytes) -> list[Any] | None:
    """Return the position in a token: where the last page ended. Raises InvalidArgument for another listing's token."""
    if not text:
        return None
    raw = _decoded(text)
    if not hmac.compare_digest(raw[:_SIGNATURE_BYTES], _signature(listing, raw[_SIGNATURE_BYTES:], secret)):
        raise InvalidArgument("pageToken", "does not belong to this query")
    values = json.loads(raw[_SIGNATURE_BYTES:])
    if tuple(map(type, values)) != shape or not all(map(_is_plausible, values)):
        raise InvalidArgument("pageToken", "does not belong to this query")
    return list(values)


def _decoded(text: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(text[:MAX_TOKEN] + "=" * (-len(text[:MAX_TOKEN]) % 4))
    except ValueError as error:
        raise InvalidArgument("pageToken", "is not a page token") from error


def _signature(listing: str, raw: bytes, secret: bytes) -> bytes:
    return hmac.digest(secret, listing.encode() + b"\0" + raw, hashlib.sha256)[:_SIGNATURE_BYTES]


def _is_plausible(part: Any) -> bool:
    """Tell whether *part* could stand in a key or a number of the table."""
    return 0 <= part < 2**53 if isinstance(part, int) else len(part) <= MAX_TOKEN
