"""Pages: their size, and opaque tokens that belong to one query."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

from streambank.errors import InvalidArgument

DEFAULT_PAGE = 100
MAX_PAGE = 1_000
# Longer than any id that we give or take.
MAX_ID = 256
MAX_TOKEN = 1_024


def page_size(text: str | None) -> int:
    """Return the size that a query parameter asks for: 1 to 1,000, by default 100."""
    if not text:
        return DEFAULT_PAGE
    if not text.isascii() or not text.isdigit() or len(text) > 6 or int(text) > MAX_PAGE:
        raise InvalidArgument("pageSize", f"must be a whole number from 0 to {MAX_PAGE}")
    return int(text) or DEFAULT_PAGE


def token(query: str, position: list[Any]) -> str:
    """Return an opaque token for *position* in the answer to *query*."""
    raw = json.dumps([_digest(query), *position], separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def position(query: str, text: str | None, shape: tuple[type, ...]) -> list[Any] | None:
    """Return where *text* says that the last page of *query* ended. Raises InvalidArgument for any other token."""
    if not text:
        return None
    if len(text) > MAX_TOKEN:
        raise InvalidArgument("pageToken", "is not one of ours")
    try:
        digest, *found = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidArgument("pageToken", "is not one of ours") from error
    if digest != _digest(query) or tuple(map(type, found)) != shape or not all(map(_is_plausible, found)):
        raise InvalidArgument("pageToken", "does not belong to this query")
    return list(found)


def _is_plausible(part: Any) -> bool:
    """Tell whether *part* could stand in a key or a number of the table."""
    return 0 <= part < 2**53 if isinstance(part, int) else len(part) <= MAX_ID


def _digest(query: str) -> str:
    return hashlib.sha256(query.encode()).hexdigest()[:16]
