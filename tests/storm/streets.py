"""Which streams there are, in which scopes and banks, and which the service is at: there races happen."""

from __future__ import annotations

import random
import re
from typing import Any

from streambank.model import ids
from streambank.model.ids import DEFAULT_BANK

STREAMS_OF_SCOPE = 6
# Of so many scopes the last one is in a bank that may be deleted.
SCOPES_OF_BANKS = 5


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
        self._bank_number = 1

    def listen(self, params: dict[str, Any], **_: Any) -> None:
        """Take down where the call that is about to be made goes to."""
        key = re.search(r"\b[SC]#\w+#([\w-]+)", str(params))
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

    def may_be_erased(self, number: int) -> bool:
        """Tell whether the scope of stream *number* is erased at times: every second one, so that others grow old."""
        return number // STREAMS_OF_SCOPE % 2 == 1

    def first_of(self, scope: str) -> int:
        """Return the first stream of a user's scope."""
        return int(scope[1:]) * STREAMS_OF_SCOPE

    def neighbour(self, number: int) -> int:
        """Return a stream of the next scope, or of the one before the last."""
        after = number + STREAMS_OF_SCOPE
        return after if after < self.streams else number - STREAMS_OF_SCOPE

    @property
    def bank(self) -> str:
        """Return the bank, of those that are deleted at times, that is in use."""
        return f"bank{self._bank_number}"

    def move(self) -> None:
        """Let the scopes of the bank in use be in a new one."""
        self._bank_number += 1

    def bank_of(self, number: int) -> str:
        """Return the bank that stream *number* is in now."""
        return self.bank if number // STREAMS_OF_SCOPE % SCOPES_OF_BANKS == SCOPES_OF_BANKS - 1 else DEFAULT_BANK
