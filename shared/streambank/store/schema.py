"""The schema version of items: every new item has it, and an item that is newer than this code is refused.

An item without one is of version 1, as the first releases wrote it. docs/upgrading.md lists what a release may change.
"""

from __future__ import annotations

from typing import Any

from streambank.errors import SchemaTooNew

ATTRIBUTE = "sv"
VERSION = 1


def checked(values: dict[str, Any]) -> dict[str, Any]:
    """Return the *values* of an item. Raises SchemaTooNew if a newer release wrote them in a form unknown here."""
    if values.get(ATTRIBUTE, 1) > VERSION:
        raise SchemaTooNew(values[ATTRIBUTE])
    return values
