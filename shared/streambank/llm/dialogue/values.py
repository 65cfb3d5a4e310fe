"""Reads the values in a row of a tool's input, as tolerantly as is safe."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

# ASCII digits alone: other digits are no number that a prompt has.
_WHOLE_NUMBER = re.compile(r"\s*#?([0-9]{1,9})(?:\.0+)?\s*", re.ASCII)
_SURROGATES = re.compile("[\ud800-\udfff]")
_MAX_NUMBER = 1e9


def read_text(value: Any) -> str:
    """Return *value* as a text without blanks around it; empty if it is no text or has half a surrogate pair."""
    if not isinstance(value, str) or _SURROGATES.search(value):
        return ""
    return value.replace("\x00", "").strip()


def readable(value: Any, length: int) -> str:
    """Return what can be read of *value*, at most *length* characters."""
    return _SURROGATES.sub("", value).replace("\x00", "").strip()[:length] if isinstance(value, str) else ""


def read_numbers(value: Any) -> tuple[int, ...]:
    """Return the whole numbers of a list, each once and in order; *value* may be a single number, or text."""
    if isinstance(value, str):
        return _numbers_in_text(value)
    numbers = map(read_number, value if isinstance(value, list) else [value])
    return tuple(dict.fromkeys(one for one in numbers if one is not None))


def offered(numbers: Collection[int], available: Collection[int]) -> tuple[int, ...]:
    """Return those of *numbers* that are *available*."""
    return tuple(one for one in numbers if one in available)


def read_memories(row: Mapping[str, Any], available: Collection[int]) -> tuple[int, ...]:
    """Return the numbers of memories that *row* names, as a list or one by one, and that are *available*."""
    numbers = read_numbers(row.get("memories")) or read_numbers(row.get("memory"))
    return offered(numbers, available)


def read_flag(value: Any) -> bool:
    """Tell whether *value* is true, which may be written as text."""
    return value is True or read_text(value).casefold() == "true"


def read_number(value: Any) -> int | None:
    """Return a whole number, which may be written as text or with a zero fraction, or None."""
    if isinstance(value, str):
        match = _WHOLE_NUMBER.fullmatch(value)
        return int(match[1]) if match else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= _MAX_NUMBER:
        return None
    return int(value) if value == int(value) else None


def _numbers_in_text(text: str) -> tuple[int, ...]:
    """Return the numbers in a text such as "1, 3" or "[1, 3]"; none if anything else stands between them."""
    pieces = [read_number(piece) for piece in text.strip().removeprefix("[").removesuffix("]").split(",")]
    numbers = [one for one in pieces if one is not None]
    return tuple(dict.fromkeys(numbers)) if len(numbers) == len(pieces) else ()
