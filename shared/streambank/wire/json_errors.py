"""Where a body stops being JSON, and why."""

from __future__ import annotations

import json
import math
import re

_WHOLE = "the body is not valid JSON in UTF-8"
# A text, whose contents are skipped, or a number or a constant of JavaScript, which JSON may not have.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|-?Infinity|NaN|-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?', re.DOTALL)
_BOM = "\ufeff"


def problem(raw: bytes, error: Exception) -> str:
    """Return what is wrong with the body *raw*, for which reading it raised *error*.

    The line and the column, in characters, are counted from 1.
    """
    if not raw.strip():
        return f"{_WHOLE}: it is empty"
    if isinstance(error, UnicodeDecodeError):
        before = raw[: error.start].decode()
        return f"{_WHOLE}: a byte that is no UTF-8 at {_place(before)}"
    text = raw.decode()
    if text.startswith(_BOM):
        return f"{_WHOLE}: a byte order mark at {_place('')}"
    if isinstance(error, json.JSONDecodeError):
        return f"{_WHOLE}: {_reason(error)} at line {error.lineno}, column {error.colno}"
    if isinstance(error, RecursionError):
        return f"{_WHOLE}: it is nested too deeply"
    return f"{_WHOLE}: a number that JSON or the service cannot hold at {_place(text[: _number(text)])}"


def _place(before: str) -> str:
    """Return the place after the text *before*, as `json` counts it: only a line feed ends a line."""
    return f"line {before.count(chr(10)) + 1}, column {len(before) - before.rfind(chr(10))}"


def _reason(error: json.JSONDecodeError) -> str:
    """Return what `json` says, without the preposition that it ends with in front of a place."""
    message = error.msg.removesuffix(" at").rstrip(": ")
    return message[:1].lower() + message[1:]


def _number(text: str) -> int:
    """Return where the first number is that cannot be read: not finite, or an integer of thousands of digits."""
    for token in _TOKEN.finditer(text):
        if token[0][0] != '"' and not _is_readable(token[0]):
            return token.start()
    return 0


def _is_readable(number: str) -> bool:
    try:
        value = float(number) if re.search("[.eEIN]", number) else int(number)
    except ValueError:
        return False
    return isinstance(value, int) or math.isfinite(value)
