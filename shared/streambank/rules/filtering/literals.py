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
    """Return *text* as a quoted string of a filter; plain texts and patterns are quoted alike."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def unquote(token: str, column: int, *, is_pattern: bool) -> str:
    r"""Return the text of a quoted string with escapes resolved; a pattern escapes only quotes and backslashes.

    So `"\d"` and `"\\d"` are the same pattern, and a literal backslash in a pattern is written as four.
    """

    def resolve(match: re.Match[str]) -> str:
        escape = match[1]
        if is_pattern:
            return escape if escape in "\"'\\" else match[0]
        if len(escape) == 5:
            return chr(int(escape[1:], 16))
        if escape not in _PLAIN:
            raise FilterSyntaxError(
                column + 1 + match.start(), f"\\{escape} is not an escape; write a backslash as \\\\"
            )
        return _PLAIN[escape]

    try:
        return join_surrogates(_ESCAPE.sub(resolve, token[1:-1]))
    except UnicodeDecodeError as error:
        raise FilterSyntaxError(column, "half of a surrogate pair is not valid text") from error


def join_surrogates(text: str) -> str:
    """Return *text* with surrogate pairs joined. Raises UnicodeDecodeError, a ValueError, for half of one."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16")


def parse_instant(text: str) -> datetime | None:
    """Return an RFC 3339 time with an offset, or the start of a day in UTC; None for anything else.

    Digits beyond a microsecond are cut.
    """
    match = _INSTANT.fullmatch(text)
    try:
        if _DAY.fullmatch(text):
            return datetime.fromisoformat(text).replace(tzinfo=UTC)
        return None if match is None else _datetime(*match.groups())
    except (ValueError, OverflowError):
        return None


def _datetime(day: str, time: str, fraction: str | None, offset: str) -> datetime:
    zone = "+00:00" if offset in "Zz" else offset
    moment = datetime.fromisoformat(f"{day}T{time}.{(fraction or '0')[:6].ljust(6, '0')}{zone}")
    moment.astimezone(UTC)
    return moment


def parse_timestamp(text: str) -> datetime:
    """Return an instant, which may also be written as microseconds since 1970. Raises ValueError."""
    instant = parse_instant(text)
    try:
        if instant is None and _MICROSECONDS.fullmatch(text):
            instant = _EPOCH + timedelta(microseconds=int(text))
    except OverflowError:
        instant = None
    if instant is None:
        raise ValueError('must be a time such as "2026-01-31T23:59:59Z", a day, or microseconds since 1970')
    return instant


def parse_number(text: str) -> float | None:
    """Return *text* as a number, or None if it is not one. Raises ValueError if it is too large for a double."""
    if not _NUMBER.fullmatch(text):
        return None
    number = float(text)
    if math.isinf(number):
        raise ValueError("is too large for a double")
    return number


def parse_text_map(text: str) -> dict[str, str]:
    """Return the map in *text*, a JSON object of strings. Raises ValueError."""
    try:
        entries = json.loads(text, object_pairs_hook=_distinct)
        if isinstance(entries, dict) and all(isinstance(value, str) for value in entries.values()):
            return {join_surrogates(key): join_surrogates(value) for key, value in entries.items()}
    except (ValueError, RecursionError):
        pass
    raise ValueError('must be a JSON object of strings in quotes, such as "{\\"key\\": \\"value\\"}"')


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) < len(pairs):
        raise ValueError("a key occurs twice")
    return entries


def possible_values(text: str, *, is_quoted: bool) -> tuple[MetadataValue, ...]:
    """Return the values that *text* may stand for in typed metadata.

    In quotes it is a text, and also a time if it looks like one. Without quotes it has the one type that it looks like.
    """
    instant = parse_instant(text)
    if is_quoted:
        return (text,) if instant is None else (text, instant)
    if text in {"true", "false"}:
        return (text == "true",)
    value = parse_number(text) if instant is None else instant
    return (text,) if value is None else (value,)
