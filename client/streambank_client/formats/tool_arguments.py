"""The arguments of tool calls: an object in a Content; JSON text or any value in a framework's message."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from streambank_client.formats.conversion import JSON


def from_text(text: str) -> tuple[JSON, bool]:
    """Return JSON text as an object, and whether it was an object; text that is not JSON becomes `{"_raw": text}`."""
    try:
        value = json.loads(text, parse_constant=_reject_constant, parse_float=_parse_finite)
    except (ValueError, RecursionError):
        return ({"_raw": text} if text.strip() else {}), False
    return from_value(value)


def from_value(value: Any) -> tuple[JSON, bool]:
    """Return *value* as an object, and whether it was an object; any other value becomes `{"input": value}`."""
    return (value, True) if isinstance(value, dict) else ({"input": value}, False)


def to_text(value: Any) -> str:
    """Return *value* as compact JSON text."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _reject_constant(constant: str) -> NoReturn:
    raise ValueError(constant)


def _parse_finite(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise ValueError(digits)
    return number
