"""Checking a part against the service's rules: valid JSON and limited depth; and measuring its size."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from streambank_client.formats.conversion import JSON, Reason

# The service accepts events of 32 levels; a part begins on the third.
_MAX_DEPTH = 29


@dataclass(frozen=True, slots=True)
class ValidPart:
    """A deep copy of a part; *is_repaired*: unpaired surrogates were replaced."""

    part: JSON
    size_bytes: int
    is_repaired: bool


def validate_part(part: JSON) -> ValidPart | Reason:
    """Return a copy of *part* with its size as JSON, or the reason why the service would reject it."""
    if not _is_within_depth(part):
        return Reason.TOO_DEEP
    try:
        text = json.dumps(part, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError):
        return Reason.NOT_JSON
    repaired = _replace_unpaired_surrogates(text)
    return ValidPart(json.loads(repaired), len(repaired.encode()), repaired != text)


def _replace_unpaired_surrogates(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _is_within_depth(value: Any) -> bool:
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
