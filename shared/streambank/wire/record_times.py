"""Times in the lines of an export."""

from __future__ import annotations

from datetime import datetime


def time_text(instant: datetime | None) -> str | None:
    """Return an instant with its offset, or None."""
    return None if instant is None else instant.isoformat()
