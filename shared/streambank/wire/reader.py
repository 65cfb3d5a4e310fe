"""Reading JSON: either spelling of a field, nothing unknown, every refusal by its path.

Written by hand where pydantic would do: importing it costs the ingest function a third of its cold start
(docs/decisions/0002-hand-written-reader.md).
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NoReturn, TypeAlias

from streambank.errors import InvalidArgument, PayloadTooLarge

MAX_BODY_BYTES = 4_000_000
_SNAKE = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)+")
_DURATION = re.compile(r"([0-9]{1,12})(\.[0-9]{1,9})?s")
_INSTANT = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]((?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9])(?:\.([0-9]{1,9}))?"
    r"([Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
)


# The fields of an object: camelCase name to (path as the caller spelled it, value).
Fields: TypeAlias = "dict[str, tuple[str, Any]]"


def swap(pair: tuple[str, Any]) -> tuple[Any, str]:
    """Return a field's value and path, as the functions below take them."""
    return pair[1], pair[0]


def join(path: str, name: str) -> str:
    """Return the path of *name* below *path*."""
    return f"{path}.{name}" if path else name


def camel(name: str) -> str:
    """Return the camelCase spelling of a snake_case name."""
    head, *rest = name.split("_")
    return head + "".join(word[:1].upper() + word[1:] for word in rest)


def json_body(body: str | None, *, is_base64: bool, most_bytes: int = MAX_BODY_BYTES) -> Any:
    """Return the JSON value of a request body.

    Raises:
        PayloadTooLarge: it is larger than *most_bytes*, by default 4 MB.
        InvalidArgument: it is not JSON, or not UTF-8, or nested out of all proportion; says at which line and column.
    """
    raw = _raw(body or "", is_base64=is_base64)
    if len(raw) > most_bytes:
        raise PayloadTooLarge("", f"the body has {len(raw)} bytes; the limit is {most_bytes}")
    try:
        return json.loads(raw.decode(), parse_constant=_refuse_constant, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        # Only a refusal needs it: it would add to the cold start of the function `Ingest`.
        from streambank.wire import json_errors  # noqa: PLC0415

        raise InvalidArgument("", json_errors.problem(raw, error)) from error


def _raw(body: str, *, is_base64: bool) -> bytes:
    try:
        return base64.b64decode(body, validate=True) if is_base64 else body.encode()
    except ValueError as error:
        raise InvalidArgument("", "the body is not valid JSON in UTF-8") from error


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(text)


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(text)
    return number


def object_fields(value: Any, path: str, fields: frozenset[str]) -> Fields:
    """Return the fields of an object as {camelCase name: (path as spelled, value)}; null counts as absent."""
    if not isinstance(value, dict):
        raise InvalidArgument(path, "must be an object")
    present: Fields = {}
    for key, item in value.items():
        name = camel(key) if key not in fields and _SNAKE.fullmatch(key) else key
        if name not in fields:
            # Only a refusal needs it, as everywhere here: it would add to the cold start of the function `Ingest`.
            from streambank.wire import hints  # noqa: PLC0415

            raise InvalidArgument(join(path, key), hints.unknown_field(key, fields))
        if name in present:
            raise InvalidArgument(join(path, key), "given twice, in two spellings")
        present[name] = (join(path, key), item)
    return {name: pair for name, pair in present.items() if pair[1] is not None}


def text(value: Any, path: str, *, most_bytes: int, least_bytes: int = 0) -> str:
    """Return a string whose UTF-8 has *least_bytes* to *most_bytes* bytes."""
    if not isinstance(value, str):
        raise InvalidArgument(path, "must be a string")
    size = byte_length(value, path)
    if not least_bytes <= size <= most_bytes:
        raise InvalidArgument(path, f"must have {least_bytes} to {most_bytes} bytes of UTF-8, not {size}")
    return value


def byte_length(value: str, path: str) -> int:
    """Return the bytes of *value* in UTF-8; half a surrogate pair has none."""
    try:
        return len(value.encode())
    except UnicodeEncodeError as error:
        raise InvalidArgument(path, "holds half of a surrogate pair, which is not valid text") from error


def boolean(value: Any, path: str) -> bool:
    if not isinstance(value, bool):
        raise InvalidArgument(path, "must be true or false")
    return value


def integer(value: Any, path: str, *, least: int, most: int) -> int:
    """Return a whole number; proto3 JSON also writes it as a string or with a zero fraction."""
    number = whole(value)
    if number is None:
        raise InvalidArgument(path, "must be a whole number")
    if not least <= number <= most:
        raise InvalidArgument(path, f"must be from {least} to {most}, not {number}")
    return number


def whole(value: Any) -> int | None:
    """Return the whole number that *value* spells in proto3 JSON, or None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        return int(value) if re.fullmatch(r"-?[0-9]{1,18}", value) else None
    return int(value) if isinstance(value, int | float) and value == int(value) else None


def duration(
    value: Any, path: str, *, least: timedelta, most: timedelta, multiple_of: timedelta | None = None
) -> timedelta:
    """Return a protobuf duration such as "300s"."""
    match = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        from streambank.wire import hints  # noqa: PLC0415  see object_fields

        raise InvalidArgument(path, hints.duration(value))
    span = timedelta(seconds=int(match[1]), microseconds=int((match[2] or ".0")[1:].ljust(9, "0")) // 1000)
    if not least <= span <= most:
        raise InvalidArgument(path, f"must be from {_seconds(least)} to {_seconds(most)}")
    if multiple_of and span % multiple_of:
        raise InvalidArgument(path, f"must be a multiple of {_seconds(multiple_of)}")
    return span


def _seconds(span: timedelta) -> str:
    return f"{int(span.total_seconds())}s"


def instant(value: Any, path: str) -> datetime:
    """Return an RFC 3339 time with the offset that it was written in; digits beyond a microsecond are cut."""
    match = _INSTANT.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise InvalidArgument(path, 'must be a time such as "2026-01-31T23:59:59Z", with an offset')
    day, time, fraction, offset = match.groups()
    zone = "+00:00" if offset in "Zz" else offset
    try:
        moment = datetime.fromisoformat(f"{day}T{time}.{(fraction or '0')[:6].ljust(6, '0')}{zone}")
        moment.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidArgument(path, "is not a date of the calendar") from error
    return moment


def string_map(value: Any, path: str, *, most_bytes: int) -> dict[str, str]:
    """Return a map of strings; its keys are the caller's own and are not respelled."""
    if not isinstance(value, dict):
        raise InvalidArgument(path, "must be a map of strings")
    return {
        text(key, path, most_bytes=most_bytes): text(item, join(path, key), most_bytes=most_bytes)
        for key, item in value.items()
    }


def depth(value: Any, limit: int) -> bool:
    """Tell whether *value* is nested at most *limit* levels deep."""
    level = [value]
    for _ in range(limit + 1):
        level = [inner for outer in level for inner in _children(outer)]
        if not level:
            return True
    return False


def _children(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return list(value.values())
    return value if isinstance(value, list) else []
