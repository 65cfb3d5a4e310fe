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
MAX_CACHED = 1_000


@dataclass(frozen=True, slots=True)
class _CachedKey:
    key: ApiKey
    until: datetime


@dataclass(slots=True)
class ApiKeyCache:
    """Returns the principal of a token with one read of the table, or none within a minute of the last.

    Only keys are cached, never tokens: each token is checked each time.
    """

    keys: ApiKeys
    clock: Callable[[], datetime]
    max_keys: int = MAX_CACHED
    _cached: dict[str, _CachedKey] = field(default_factory=dict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def principal(self, text: str | None) -> Principal:
        """Return the principal of the token *text*. Raises Unauthenticated, whose message does not tell why."""
        now, token = self.clock(), Token.parse(text or "")
        key = self._key(token.key_id, now) if token else None
        if token is None or key is None or not access.admits(key, token, now=now):
            raise Unauthenticated("the request has no valid API key" if text else "the request has no API key")
        return key.principal

    def _key(self, key_id: str, now: datetime) -> ApiKey | None:
        cached = self._cached.get(key_id)
        # Not before it was cached either: a clock that was set back must not keep a revoked key valid.
        if cached and cached.until - CACHED_FOR <= now < cached.until:
            return cached.key
        key = self.keys.find(key_id)
        self._cache(key_id, key, now)
        return key

    def _cache(self, key_id: str, key: ApiKey | None, now: datetime) -> None:
        with self._lock:
            self._cached.pop(key_id, None)
            if key is None:
                return
            while len(self._cached) >= self.max_keys:
                del self._cached[next(iter(self._cached))]
            self._cached[key_id] = _CachedKey(key, now + CACHED_FOR)
