"""Bodies, query parameters and headers of calls, from arguments in snake_case; an argument of None is left out."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from streambank_client import types
from streambank_client.http.encoding import JsonObject, camel_case, duration, rfc3339


def body_fields(**arguments: Any) -> JsonObject:
    """Return the fields of a body."""
    return {camel_case(name): json_value(value) for name, value in arguments.items() if value is not None}


def query_parameters(**arguments: Any) -> dict[str, str]:
    """Return the query parameters of a call."""
    return {camel_case(name): str(value) for name, value in arguments.items() if value is not None}


def json_value(value: Any) -> Any:
    """Return a value as JSON has it; a mapping is sent as it is."""
    if isinstance(value, types.Shape):
        return value.document()
    if isinstance(value, timedelta):
        return duration(value)
    if isinstance(value, datetime):
        return rfc3339(value)
    if isinstance(value, list | tuple):
        return [json_value(item) for item in value]
    return dict(value) if isinstance(value, Mapping) else value


def header_fields(**arguments: str | None) -> dict[str, str]:
    """Return the headers of a call. Raises ValueError for a value that cannot be in a header."""
    headers = {name.replace("_", "-"): value for name, value in arguments.items() if value is not None}
    for name, value in headers.items():
        if not (value.isascii() and value.isprintable() and value == value.strip()):
            raise ValueError(f"{name} must be printable ASCII without spaces around it")
    return headers
