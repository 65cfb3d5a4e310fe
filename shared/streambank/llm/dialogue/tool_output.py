"""Finds the input of a tool in a model's reply."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

_MAX_STARTS = 500
_INVALID_ESCAPE = re.compile(r'\\(?:(?=u(?![0-9a-fA-F]{4}))|(?!["\\/bfnrtu]))')
_ESCAPE_PAIR = re.compile(r"(\\\\)")

ToolInput = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool in a reply; its input may be an object, or JSON as text."""

    name: str
    input: Any


def find_tool_input(calls: Sequence[Call], text: str, tool: str, keys: Sequence[str]) -> ToolInput | None:
    """Return the input of *tool* in a reply's *calls* or *text*: an object with a list under one of *keys*, or None.

    It is looked for in the calls of the tool, then in those of other tools, then in the text. Where several objects of
    one of these places could be the answer, the last one is.
    """
    for values in _places(calls, text, tool):
        if inputs := [one for one in (_object_with_list(value, keys) for value in values) if one is not None]:
            return inputs[-1]
        if lists := [value for value in values if _is_bare_answer(value)]:
            return {keys[0]: lists[-1]}
    return None


def _places(calls: Sequence[Call], text: str, tool: str) -> Iterator[list[Any]]:
    yield _inputs([call for call in calls if call.name == tool])
    yield _inputs([call for call in calls if call.name != tool])
    yield _parsed(text)


def _inputs(calls: Sequence[Call]) -> list[Any]:
    inputs = (call.input for call in calls)
    return [value for one in inputs for value in (_parsed(one) if isinstance(one, str) else [one])]


def _parsed(text: str) -> list[Any]:
    """Return each JSON object and array in *text*; prose and fences around it and broken escapes do no harm."""
    decoder = json.JSONDecoder(strict=False)
    repaired = _repair_escapes(text)
    values: list[Any] = []
    position = 0
    for _ in range(_MAX_STARTS):
        start = min((at for at in (repaired.find("{", position), repaired.find("[", position)) if at >= 0), default=-1)
        if start < 0:
            break
        try:
            value, position = decoder.raw_decode(repaired, start)
            values.append(value)
        except (ValueError, RecursionError):
            position = start + 1
    return values


def _repair_escapes(text: str) -> str:
    """Return *text* with each backslash doubled that does not begin an escape of JSON."""
    pieces = _ESCAPE_PAIR.split(text)
    return "".join(piece if piece == "\\\\" else _INVALID_ESCAPE.sub(r"\\\\", piece) for piece in pieces)


def _object_with_list(value: Any, keys: Sequence[str]) -> ToolInput | None:
    """Return *value* as an object with a list under one of *keys*, or None.

    Repairs a list that is written as text, a single row in place of a list, and an object inside another object.
    """
    if not isinstance(value, dict):
        return None
    repaired = {key: rows for key in keys if (rows := _rows(value.get(key))) is not None}
    if repaired:
        return repaired
    inner: list[ToolInput] = [
        one for one in value.values() if isinstance(one, dict) and any(isinstance(one.get(key), list) for key in keys)
    ]
    return inner[0] if len(inner) == 1 else None


def _rows(value: Any) -> list[Any] | None:
    if isinstance(value, str):
        return next((one for one in reversed(_parsed(value)) if isinstance(one, list)), None)
    if isinstance(value, dict) and _is_row(value):
        return [value]
    return value if isinstance(value, list) else None


def _is_bare_answer(value: Any) -> bool:
    return isinstance(value, list) and any(map(_is_row, value))


def _is_row(value: Any) -> bool:
    """Tell whether *value* looks like a row of either tool; both name a fact."""
    return isinstance(value, dict) and "fact" in value
