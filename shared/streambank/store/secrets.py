"""Secrets that the service makes for itself."""

from __future__ import annotations

import secrets

from streambank.errors import Conflict
from streambank.store.actions import Put, absent
from streambank.store.keys import ID_SECRET, PAGE_SECRET, Key
from streambank.store.table import Table


def page_secret(table: Table) -> bytes:
    """Return the secret that page tokens are signed with; the first caller makes it."""
    return _secret(table, PAGE_SECRET)


def id_secret(table: Table) -> bytes:
    """Return the secret that ids of memories are derived with; the first caller makes it."""
    return _secret(table, ID_SECRET)


def _secret(table: Table, key: Key) -> bytes:
    for _ in range(2):
        item = table.get(key)
        if item:
            return bytes(item["secret"])
        try:
            table.write(Put(key, {"secret": secrets.token_bytes(32)}, absent()))
        except Conflict:
            continue
    item = table.get(key) or {}
    return bytes(item["secret"])
