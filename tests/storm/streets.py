"""Which streams there are, in which scopes, and which of them the service is at: there races happen."""

from __future__ import annotations

import random
import re
from typing import Any

from streambank.model import ids

STREAMS_OF_SCOPE = 6


def scope_of(number: int) -> str:
    """Return the user whose scope stream *number* is in."""
    return f"u{number // STREAMS_OF_SCOPE}"


class Streets:
    """Tells from what a call to the table touches which stream, or scope, somebody is working at."""

    def __init__(self, streams: int, rng: random.Random) -> None:
        self.streams, self._rng = streams, rng
        self._sids = {ids.stream_key({"user_id": scope_of(n)}, f"s{n}"): n for n in range(streams)}
        cids = {ids.scope_id({"user_id": scope_of(n)}): n for n in range(0, streams, STREAMS_OF_SCOPE)}
        self._keys = self._sids | cids
        self._touched: int | None = None

    def listen(self, params: dict[str, Any], **_: Any) -> None:
        """Take down where the call that is about to be made goes to."""
        key = re.search(r"\b[SC]#default#([\w-]+)", str(params))
        self._touched = self._keys.get(key[1], self._touched) if key else self._touched

    def number(self, sid: str) -> int | None:
        """Return the stream with this key, or the first of a scope with this key."""
        return self._keys.get(sid)

    def anywhere(self) -> int:
        """Return any stream."""
        return self._rng.randrange(self.streams)

    def near(self) -> int:
        """Return the stream that somebody is working at, most of the time."""
        return self._touched if self._touched is not None and self._rng.random() < 0.8 else self.anywhere()
