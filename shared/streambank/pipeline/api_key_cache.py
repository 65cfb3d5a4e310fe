"""A cache of API keys."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from streambank.errors import Unauthenticated
from streambank.model.api_key import ApiKey, Token
from streambank.model.principal import Principal
from streambank.rules import access
from streambank.store.api_keys import ApiKeys

# A revoked key is accepted for this long at most.
CACHED_FOR = timedelta(seconds=60)
# A key that is made after its id was refused is accepted this much later at most.
UNKNOWN_FOR = timedelta(seconds=10)
MAX_CACHED = 1_000


@dataclass(frozen=True, slots=True)
class _CachedKey:
    """A key, or None for an id that is unknown, and when it was read."""

    key: ApiKey | None
    read: datetime

    def is_fresh(self, now: datetime) -> bool:
        """Tell whether it need not be read again; it is not from the future, or a clock set back would keep it."""
        return self.read <= now < self.read + (CACHED_FOR if self.key else UNKNOWN_FOR)


@dataclass(slots=True)
class ApiKeyCache:
    """Returns the principal of a token with one read of the table, or none within a minute of the last.

    Only keys are cached, never tokens: each token is checked each time. Unknown ids are kept apart from
    keys: however many there are, they displace none.
    """

    keys: ApiKeys
    clock: Callable[[], datetime]
    max_keys: int = MAX_CACHED
    _cached: dict[str, _CachedKey] = field(default_factory=dict, repr=False)
    _unknown: dict[str, _CachedKey] = field(default_factory=dict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def principal(self, text: str | None) -> Principal:
        """Return the principal of the token *text*. Raises Unauthenticated, whose message does not tell why."""
        now, token = self.clock(), Token.parse(text or "")
        key = self._key(token.key_id, now) if token else None
        if token is None or key is None or not access.admits(key, token, now=now):
            raise Unauthenticated("the request has no valid API key" if text else "the request has no API key")
        return key.principal

    def _key(self, key_id: str, now: datetime) -> ApiKey | None:
        cached = self._cached.get(key_id) or self._unknown.get(key_id)
        if cached is None or not cached.is_fresh(now):
            cached = _CachedKey(self.keys.find(key_id), now)
            self._cache(key_id, cached)
        return cached.key

    def _cache(self, key_id: str, entry: _CachedKey) -> None:
        with self._lock:
            self._cached.pop(key_id, None)
            self._unknown.pop(key_id, None)
            entries = self._cached if entry.key else self._unknown
            while len(entries) >= self.max_keys:
                del entries[next(iter(entries))]
            entries[key_id] = entry
