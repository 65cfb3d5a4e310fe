"""The arguments of tool calls: objects in a Content, JSON text or anything at all elsewhere."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from streambank_client.formats.conversion import JSON


def of_text(text: str) -> tuple[JSON, bool]:
    """Return JSON text as an object, and whether it was one; what is no JSON stands under `_raw`."""
    try:
        value = json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError):
        return ({"_raw": text} if text.strip() else {}), False
    return of_value(value)


def of_value(value: Any) -> tuple[JSON, bool]:
    """Return *value* as an object, and whether it was one; what is none stands under `input`."""
    return (value, True) if isinstance(value, dict) else ({"input": value}, False)


def text(value: Any) -> str:
    """Return *value* as compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _finite(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise ValueError(digits)
    return number
