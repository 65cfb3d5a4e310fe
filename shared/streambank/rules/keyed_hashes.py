"""Keyed hashes of events and texts: what was deleted is recognised by them, and cannot be read from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC

from streambank.model import ids
from streambank.model.event import Event, StoredEvent
from streambank.model.memory import Memory
from streambank.rules import wording

# A memory keeps the hashes of so many of its earlier texts.
MAX_FORMER = 50


@dataclass(frozen=True, slots=True)
class KeyedHashes:
    """Hashes under the service's *secret* for one scope: the same event or text has another hash in another scope."""

    secret: bytes
    bank: str
    cid: str

    @classmethod
    def of_scope(cls, secret: bytes, bank: str, scope: Mapping[str, str]) -> KeyedHashes:
        """Return the hashes of *scope*."""
        return cls(secret, bank, ids.scope_id(scope))

    def of_event(self, sid: str, event: Event) -> str:
        """Return the hash of an event of stream *sid*, or an empty text if the event has neither an id nor a time.

        An id is the caller's, and may be used in each stream again. Without an id, the time and the content count.
        """
        if event.event_id is not None:
            return self._hash("event", sid, event.event_id)
        if event.time is None:
            return ""
        moment = event.time.astimezone(UTC).isoformat()
        return self._hash("unnamed event", moment, event.fingerprint().hex())

    def of_events(self, sid: str, events: Iterable[StoredEvent]) -> dict[int, str]:
        """Return the hashes of *events* of stream *sid* by their numbers."""
        return {one.seq: self.of_event(sid, one.event) for one in events}

    def of_text(self, text: str) -> str:
        """Return the hash of *text*, the same for every spelling that `wording.normalized` makes equal."""
        return self._hash("text", wording.normalized(text))

    def _hash(self, domain: str, *parts: str) -> str:
        return ids.keyed_hash(self.secret, domain, self.bank, self.cid, *parts)


def former_texts(memory: Memory, fact: str, hashes: KeyedHashes) -> tuple[str, ...]:
    """Return the hashes of the earlier texts of *memory* once its text is *fact*: the newest 50, oldest first."""
    if not memory.fact or memory.fact == fact:
        return memory.former
    newest = hashes.of_text(memory.fact)
    return (*(one for one in memory.former if one != newest), newest)[-MAX_FORMER:]
