"""Times in messages: ISO 8601, seconds since 1970, or datetimes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from streambank_client.formats.content_builder import ContentBuilder
from streambank_client.formats.conversion import Reason
from streambank_client.formats.node import Node


def read_time(builder: ContentBuilder, node: Node, name: str) -> None:
    """Set the time of a message to the field *name* of *node*, or record that it is malformed."""
    value = node.get(name)
    if value is None:
        return
    builder.time = parse_time(value)
    if builder.time is None:
        builder.drop(Reason.MALFORMED, kind=name)


def parse_time(value: Any) -> datetime | None:
    """Return *value* as an aware time to the microsecond, UTC if it names no zone; None if it is malformed."""
    try:
        time = value if isinstance(value, datetime) else _parse(value)
        if time is None:
            return None
        aware = time if time.utcoffset() is not None else time.replace(tzinfo=UTC)
        # Near the first and the last year a time may have no instant in UTC.
        aware.astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return aware


def format_time(time: datetime) -> str:
    """Return a time as pydantic writes it."""
    return time.isoformat().replace("+00:00", "Z")


def _parse(value: Any) -> datetime | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return datetime.fromtimestamp(value, UTC)
    return datetime.fromisoformat(value) if isinstance(value, str) else None
