"""Values in the text of a filter: strings and their escapes, instants, numbers, maps."""

from __future__ import annotations

import json
import math
import re
from datetime import UTC, datetime, timedelta
from typing import Any

from streambank.model.metadata import MetadataValue
from streambank.rules.filtering.syntax_error import FilterSyntaxError

_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_PLAIN = {'"': '"', "'": "'", "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_INSTANT = re.compile(r"(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
_MICROSECONDS = re.compile(r"-?\d{1,18}", re.ASCII)
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def quote(text: str) -> str:
    """Return *text* as a quoted string of a filter, be it plain or a pattern."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def unquote(token: str, column: int, *, is_pattern: bool) -> str:
    r"""Return what a quoted string says: JSON's escapes, or in a pattern none but those of quotes and the backslash.

    So `"\d"` and `"\\d"` are one pattern, and a literal backslash in a pattern takes four.
    """

    def resolved(found: re.Match[str]) -> str:
        escape = found[1]
        if is_pattern:
            return escape if escape in "\"'\\" else found[0]
        if len(escape) == 5:
            return chr(int(escape[1:], 16))
        if escape not in _PLAIN:
            raise FilterSyntaxError(column + 1 + found.start(), f"\\{escape} is no escape; a backslash is written \\\\")
        return _PLAIN[escape]

    try:
        return join_surrogates(_ESCAPE.sub(resolved, token[1:-1]))
    except UnicodeDecodeError as error:
        raise FilterSyntaxError(column, "half of a surrogate pair is no text") from error


def join_surrogates(text: str) -> str:
    """Return *text* with surrogate pairs joined. Raises UnicodeDecodeError, a ValueError, for half of one."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16")


def parse_instant(text: str) -> datetime | None:
    """Return an RFC 3339 time with an offset, or the start of a day in UTC; None for anything else.

    Digits beyond a microsecond are cut.
    """
    found = _INSTANT.fullmatch(text)
    try:
        if _DAY.fullmatch(text):
            return datetime.fromisoformat(text).replace(tzinfo=UTC)
        return None if found is None else _moment(*found.groups())
    except (ValueError, OverflowError):
        return None


def _moment(day: str, time: str, fraction: str | None, offset: str) -> datetime:
    zone = "+00:00" if offset in "Zz" else offset
    moment = datetime.fromisoformat(f"{day}T{time}.{(fraction or '0')[:6].ljust(6, '0')}{zone}")
    moment.astimezone(UTC)
    return moment


def parse_timestamp(text: str) -> datetime:
    """Return an instant, which may also be written in microseconds since 1970. Raises ValueError."""
    found = parse_instant(text)
    try:
        if found is None and _MICROSECONDS.fullmatch(text):
            found = _EPOCH + timedelta(microseconds=int(text))
    except OverflowError:
        found = None
    if found is None:
        raise ValueError('must be a time such as "2026-01-31T23:59:59Z", a day, or microseconds since 1970')
    return found


def parse_number(text: str) -> float | None:
    """Return the number that *text* is, if it is one. Raises ValueError when no double holds it."""
    if not _NUMBER.fullmatch(text):
        return None
    found = float(text)
    if math.isinf(found):
        raise ValueError("is beyond any double")
    return found


def parse_text_map(text: str) -> dict[str, str]:
    """Return the map that a JSON object of strings says. Raises ValueError."""
    try:
        found = json.loads(text, object_pairs_hook=_distinct)
        if isinstance(found, dict) and all(isinstance(value, str) for value in found.values()):
            return {join_surrogates(key): join_surrogates(value) for key, value in found.items()}
    except (ValueError, RecursionError):
        pass
    raise ValueError('must be a JSON object of strings in quotes, such as "{\\"key\\": \\"value\\"}"')


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is there twice")
    return found


def possible_values(text: str, *, is_quoted: bool) -> tuple[MetadataValue, ...]:
    """Return what a value may be in typed metadata: in quotes text or a time, bare the one type that it looks like."""
    moment = parse_instant(text)
    if is_quoted:
        return (text,) if moment is None else (text, moment)
    if text in {"true", "false"}:
        return (text == "true",)
    found = parse_number(text) if moment is None else moment
    return (text,) if found is None else (found,)
