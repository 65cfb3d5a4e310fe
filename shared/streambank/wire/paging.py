"""Pages: their size, and opaque tokens that belong to one query."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

from streambank.errors import InvalidArgument

DEFAULT_PAGE = 100
MAX_PAGE = 1_000


def page_size(text: str | None) -> int:
    """Return the size that a query parameter asks for: 1 to 1,000, by default 100."""
    if not text or text == "0":
        return DEFAULT_PAGE
    if not text.isascii() or not text.isdigit() or int(text[:6]) > MAX_PAGE:
        raise InvalidArgument("pageSize", f"must be a whole number from 0 to {MAX_PAGE}")
    return int(text)


def token(query: str, position: list[Any]) -> str:
    """Return an opaque token for *position* in the answer to *query*."""
    raw = json.dumps([_digest(query), *position], separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def position(query: str, text: str | None, shape: tuple[type, ...]) -> list[Any] | None:
    """Return where *text* says that the last page of *query* ended. Raises InvalidArgument for any other token."""
    if not text:
        return None
    try:
        digest, *found = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (ValueError, TypeError) as error:
        raise InvalidArgument("pageToken", "is not one of ours") from error
    if digest != _digest(query) or tuple(map(type, found)) != shape:
        raise InvalidArgument("pageToken", "does not belong to this query")
    return list(found)


def _digest(query: str) -> str:
    return hashlib.sha256(query.encode()).hexdigest()[:16]
