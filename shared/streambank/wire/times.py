"""Instants and spans as the wire spells them."""

from __future__ import annotations

from datetime import UTC, datetime


def rfc3339(instant: datetime | None) -> str | None:
    """Return *instant* in UTC with a Z."""
    if instant is None:
        return None
    digits = "microseconds" if instant.microsecond % 1000 else "milliseconds" if instant.microsecond else "seconds"
    return instant.astimezone(UTC).isoformat(timespec=digits)[:-6] + "Z"


def without_nulls(document: dict[str, object]) -> dict[str, object]:
    """Return *document* without what is None: the wire has no nulls."""
    return {key: value for key, value in document.items() if value is not None}
