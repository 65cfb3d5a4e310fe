"""Events as callers send them and as they are kept."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from streambank.errors import KeyReused
from streambank.model.content_policy import Finding

Role = Literal["user", "model"]


@dataclass(frozen=True, slots=True)
class Event:
    """One piece of conversation; *parts* are kept as sent, *time* keeps the caller's own offset.

    *findings* are what the bank's content policy found in it: then the parts may be other than were sent.
    """

    role: Role
    parts: tuple[dict[str, Any], ...]
    event_id: str | None = None
    time: datetime | None = None
    findings: tuple[Finding, ...] = ()

    def fingerprint(self) -> bytes:
        """Return a hash of role and parts, without the time: a repeat with another fingerprint is a conflict."""
        parts = [_in_camel_case(part) for part in self.parts]
        text = json.dumps([self.role, parts], sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).digest()[:12]


def _in_camel_case(part: dict[str, Any]) -> dict[str, Any]:
    """Return *part* with its fields and theirs in camelCase, so that both spellings have one fingerprint."""
    return {
        camel(name): {camel(inner): item for inner, item in value.items()} if isinstance(value, dict) else value
        for name, value in part.items()
    }


def camel(name: str) -> str:
    """Return the camelCase spelling of a field of a part."""
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


@dataclass(frozen=True, slots=True)
class KeyedEvent:
    """An event of a call: *key* is that of its marker (None: it gets none), *size* its bytes of JSON.

    *sent* is the fingerprint of the event as it was sent, where a content policy has changed it; it is not stored.
    """

    event: Event
    key: str | None
    size: int
    sent: bytes = b""

    def is_same_as(self, stored: EventMarker) -> bool:
        """Tell whether the event of the marker *stored* had the same content, before or after a policy changed it."""
        return stored.fingerprint == self.event.fingerprint() or stored.fingerprint == self.sent != b""

    def canonical(self) -> list[Any]:
        """Return what the fingerprint of a call takes of the event: everything that its caller wrote."""
        event = self.event
        return [event.fingerprint().hex(), event.event_id, event.time.isoformat() if event.time else None]


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An accepted event: its number in the stream and the instant at which it arrived."""

    event: Event
    seq: int
    arrived: datetime

    def order(self) -> tuple[datetime, int]:
        """Return the sort key of events inside a window: their own time, else arrival; ties by arrival (I7)."""
        return (self.event.time or self.arrived, self.seq)


@dataclass(frozen=True, slots=True)
class EventMarker:
    """The marker of an event that was accepted before."""

    seq: int
    window: int
    fingerprint: bytes
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class CallMarker:
    """The marker of a call with an idempotency key: its key, and the fingerprint of the call's whole body."""

    key: str
    fingerprint: bytes

    def check(self, stored: EventMarker | CallMarker | None) -> None:
        """Raise KeyReused if the key was *stored* by a call with another body.

        An erasure removes the fingerprint: then nothing can be compared.
        """
        if stored and stored.fingerprint not in (b"", self.fingerprint):
            raise KeyReused
