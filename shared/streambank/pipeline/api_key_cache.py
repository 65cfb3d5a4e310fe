"""Keys that were looked up a moment ago."""

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

# A revoked key opens for this long at most.
REMEMBERED = timedelta(seconds=60)
MOST_REMEMBERED = 1_000


@dataclass(frozen=True, slots=True)
class _Remembered:
    key: ApiKey
    until: datetime


@dataclass(slots=True)
class ApiKeyCache:
    """Tells who holds a token: one read of the table, or none within a minute of the last.

    Only keys are remembered, never tokens: each token is put to the test each time.
    """

    keys: ApiKeys
    clock: Callable[[], datetime]
    most: int = MOST_REMEMBERED
    _known: dict[str, _Remembered] = field(default_factory=dict, repr=False)
    _turn: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def holder(self, text: str | None) -> Principal:
        """Return who holds the token *text*. Raises Unauthenticated, which says nothing of why."""
        now, token = self.clock(), Token.parse(text or "")
        key = self._key(token.key_id, now) if token else None
        if token is None or key is None or not access.admits(key, token, now=now):
            raise Unauthenticated("the request has no valid API key" if text else "the request has no API key")
        return key.principal

    def _key(self, key_id: str, now: datetime) -> ApiKey | None:
        known = self._known.get(key_id)
        # Also not before: a clock that was set back must not keep a revoked key alive.
        if known and known.until - REMEMBERED <= now < known.until:
            return known.key
        key = self.keys.find(key_id)
        self._remember(key_id, key, now)
        return key

    def _remember(self, key_id: str, key: ApiKey | None, now: datetime) -> None:
        with self._turn:
            self._known.pop(key_id, None)
            if key is None:
                return
            while len(self._known) >= self.most:
                del self._known[next(iter(self._known))]
            self._known[key_id] = _Remembered(key, now + REMEMBERED)
