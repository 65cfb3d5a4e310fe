"""Secrets that the service makes for itself."""

from __future__ import annotations

import secrets

from streambank.errors import Conflict
from streambank.store.actions import Put, absent
from streambank.store.keys import PAGE_SECRET
from streambank.store.table import Table


def page_secret(table: Table) -> bytes:
    """Return the secret that page tokens are signed with; the first caller makes it."""
    for _ in range(2):
        item = table.get(PAGE_SECRET)
        if item:
            return bytes(item["secret"])
        try:
            table.write(Put(PAGE_SECRET, {"secret": secrets.token_bytes(32)}, absent()))
        except Conflict:
            continue
    item = table.get(PAGE_SECRET) or {}
    return bytes(item["secret"])
