"""API keys: read by their ids, and listed for operators."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from streambank.errors import Conflict, NotFound
from streambank.model.api_key import ApiKey
from streambank.model.principal import Principal, Role
from streambank.store import codec, keys
from streambank.store.actions import Put, Update, absent, present
from streambank.store.attributes import instant, milliseconds, seconds
from streambank.store.table import Table


class ApiKeys:
    """The access patterns of `A#`."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def find(self, key_id: str) -> ApiKey | None:
        """Return a key as it is stored, also one that is expired or revoked; or None."""
        item = self._table.get(keys.api_key(key_id))
        return _api_key(item) if item else None

    def list(self) -> list[ApiKey]:
        """Return all keys that are stored, newest first; one made a moment ago may be missing."""
        listed = [keys.key_of(item) for item in self._table.query_index("list", keys.API_KEYS, backward=True)]
        items = self._table.read(listed)
        return [_api_key(items[key]) for key in listed if key in items]

    def create(self, key: ApiKey) -> None:
        """Store a new key. Raises Conflict if the id is taken."""
        self._table.write(Put(keys.api_key(key.id), _values(key), absent()))

    def revoke(self, key_id: str, *, now: datetime) -> None:
        """Revoke a key; it is refused everywhere a minute later at most. Raises NotFound."""
        try:
            self._table.write(Update(keys.api_key(key_id), {"rev": milliseconds(now)}, present()))
        except Conflict as conflict:
            raise NotFound(f"there is no key {key_id!r}") from conflict


def _values(key: ApiKey) -> codec.Values:
    return {
        "h": key.digest,
        "p": _principal_text(key.principal),
        "at": milliseconds(key.created),
        "exp": milliseconds(key.expires),
        "ttl": seconds(key.expires),
        "rev": milliseconds(key.revoked),
        "G2PK": keys.API_KEYS,
        "G2SK": milliseconds(key.created),
    }


def _principal_text(principal: Principal) -> str:
    document = {
        "name": principal.name,
        "banks": principal.banks,
        "roles": sorted(principal.roles),
        "scope": principal.scope,
    }
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def _api_key(item: Mapping[str, Any]) -> ApiKey:
    document = json.loads(item["p"])
    return ApiKey(
        id=keys.name_in(item["PK"]),
        digest=bytes(item["h"]),
        principal=Principal(
            document["name"], tuple(document["banks"]), frozenset(map(Role, document["roles"])), document["scope"]
        ),
        created=codec.instant_of(item["at"]),
        expires=instant(item.get("exp")),
        revoked=instant(item.get("rev")),
    )
