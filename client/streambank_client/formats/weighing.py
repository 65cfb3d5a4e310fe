"""Parts as the service will read them: pure JSON, not too deep, and how large."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from streambank_client.formats.conversion import JSON, Reason

# The service takes events of 32 levels; a part begins on the third.
_MAX_DEPTH = 29


@dataclass(frozen=True, slots=True)
class Weighed:
    """A copy of a part that shares nothing with the message; *is_repaired*: half surrogate pairs were replaced."""

    part: JSON
    size: int
    is_repaired: bool


def weigh(part: JSON) -> Weighed | Reason:
    """Return *part* as JSON and its bytes, or why the service would not take it."""
    if not _is_flat(part):
        return Reason.TOO_DEEP
    try:
        text = json.dumps(part, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError):
        return Reason.NOT_JSON
    sound = _repaired(text)
    return Weighed(json.loads(sound), len(sound.encode()), sound != text)


def _repaired(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _is_flat(value: Any) -> bool:
    level = [value]
    for _ in range(_MAX_DEPTH + 1):
        level = [inner for outer in level for inner in _children(outer)]
        if not level:
            return True
    return False


def _children(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return list(value.values())
    return list(value) if isinstance(value, list | tuple) else []
