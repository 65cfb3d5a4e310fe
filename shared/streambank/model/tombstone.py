"""Tombstones: what is kept of a deleted memory, so that nothing that was said before brings it back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

TOMBSTONE_TTL = timedelta(days=400)


@dataclass(frozen=True, slots=True)
class Tombstone:
    """Keyed hashes of the events that a memory cited, and of its texts; evidence up to *at* does not bring it back.

    *origins* are the scopes, as canonical JSON, that it was moved from: some hashes may be of those.
    Where *is_merge* the memory became part of another one: nobody asked for it to be forgotten, and no event is named.
    """

    memory_id: str
    at: datetime
    events: frozenset[str]
    texts: frozenset[str]
    expires: datetime
    is_merge: bool = False
    origins: tuple[str, ...] = ()

    def is_live(self, now: datetime) -> bool:
        """Tell whether the tombstone counts at *now*."""
        return self.expires > now
