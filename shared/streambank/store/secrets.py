"""Secrets that the service makes for itself."""

from __future__ import annotations

import secrets

from streambank.errors import Conflict
from streambank.store.actions import Put, absent
from streambank.store.keys import Key
from streambank.store.table import Table

_PAGES = Key("SECRETS", "PAGES")


def page_secret(table: Table) -> bytes:
    """Return the secret that page tokens are signed with; whoever asks first makes it."""
    for _ in range(2):
        item = table.get(_PAGES)
        if item:
            return bytes(item["secret"])
        try:
            table.write(Put(_PAGES, {"secret": secrets.token_bytes(32)}, absent()))
        except Conflict:
            continue
    item = table.get(_PAGES) or {}
    return bytes(item["secret"])
