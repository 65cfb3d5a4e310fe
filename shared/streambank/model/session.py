"""Sessions: the state of a conversation, and the events that were appended to it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from streambank.model.content_policy import Finding
from streambank.model.event import Event, Role
from streambank.model.rule import Expiry

# Part of paths and of keys ('#' separates); a path loses segments that are dots only.
SESSION_ID = re.compile(r"(?!\.{1,2}\Z)[A-Za-z0-9._-]{1,128}")
MAX_STATE_BYTES = 300_000


class SessionCursor(NamedTuple):
    """The position of a list of sessions: the time that it is ordered by, in milliseconds, and an id."""

    rank: int
    session_id: str


@dataclass(frozen=True, slots=True)
class Session:
    """A session; the numbers of its events are above *first*, and *last* is the newest one's."""

    id: str
    user_id: str
    created: datetime
    updated: datetime
    first: int
    last: int
    version: int = 1
    display_name: str | None = None
    state: dict[str, Any] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    expires: datetime | None = None
    deleted: datetime | None = None

    def is_live(self, now: datetime) -> bool:
        """Tell whether a read may return this session at *now* (I9: TTL deletion lags)."""
        return self.deleted is None and (self.expires is None or self.expires > now)

    def is_extended_by(self, expires: datetime | None) -> bool:
        """Tell whether *expires* is not before the session's own expiry."""
        return expires is None or (self.expires is not None and expires >= self.expires)


@dataclass(frozen=True, slots=True)
class SessionEvent:
    """An appended event; its maps are kept as sent, *number* is 0 until it is stored.

    *findings* are what the bank's content policy found in it: then the maps may be other than were sent.
    """

    author: str
    invocation_id: str
    timestamp: datetime
    number: int = 0
    content: dict[str, Any] | None = None
    actions: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None
    error_code: str | None = None
    error_message: str | None = None
    raw: dict[str, Any] | None = None
    findings: tuple[Finding, ...] = ()

    @property
    def state_delta(self) -> dict[str, Any]:
        """Return the changes that the event makes to the session's state."""
        return (self.actions or {}).get("stateDelta", {})  # type: ignore[no-any-return]

    def turn(self) -> Event | None:
        """Return the event as a generation reads it, or None if it has no content."""
        parts = (self.content or {}).get("parts")
        return Event(self._role, tuple(parts), str(self.number), self.timestamp) if parts else None

    @property
    def _role(self) -> Role:
        """Return the role of the content, else the author's: the user's, or the model's for every agent."""
        role = (self.content or {}).get("role") or ("user" if self.author == "user" else "model")
        return "model" if role == "model" else "user"


@dataclass(frozen=True, slots=True)
class SessionFields:
    """The fields of a session in a request; *changed* names those that an update sets."""

    user_id: str | None = None
    display_name: str | None = None
    state: dict[str, Any] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    expiry: Expiry | None = None
    changed: frozenset[str] = frozenset()


def first_number(now: datetime) -> int:
    """Return the number below all event numbers of a session that is created at *now*.

    It grows by a hundred a second, faster than one session receives events. So a new session under the id of a deleted
    one never uses an event's key again, and a slow deletion of the old session cannot delete an event of the new one.
    """
    return int(now.timestamp() * 100)


def new_session(session_id: str, fields: SessionFields, *, now: datetime) -> Session:
    """Return a new session with *fields*."""
    first, instant = first_number(now), truncate_to_millisecond(now)
    return Session(
        session_id,
        fields.user_id or "",
        created=instant,
        updated=instant,
        first=first,
        last=first,
        display_name=fields.display_name,
        state=fields.state,
        labels=fields.labels,
        expires=expiry_instant(fields.expiry, now=now),
    )


def updated_session(session: Session, fields: SessionFields, *, now: datetime) -> Session:
    """Return *session* with the changed fields of *fields*."""
    values = {
        "display_name": fields.display_name,
        "state": fields.state,
        "labels": fields.labels,
        "expires": expiry_instant(fields.expiry, now=now),
    }
    names = {"expires" if name == "expiry" else name for name in fields.changed}
    return replace(session, updated=truncate_to_millisecond(now), **{name: values[name] for name in names})  # type: ignore[arg-type]


def expiry_instant(expiry: Expiry | None, *, now: datetime) -> datetime | None:
    """Return *expiry* as an instant; a time span counts from *now*."""
    instant = now + expiry if isinstance(expiry, timedelta) else expiry
    return instant and truncate_to_millisecond(instant)


def truncate_to_millisecond(instant: datetime) -> datetime:
    """Return *instant* without microseconds, as sessions store it."""
    return instant.replace(microsecond=instant.microsecond // 1000 * 1000)


def merge_state(state: Mapping[str, Any], delta: Mapping[str, Any]) -> dict[str, Any]:
    """Return *state* with the values of *delta*; a key with the value None is removed."""
    return {key: value for key, value in {**state, **delta}.items() if key not in delta or value is not None}


def json_size(value: Any) -> int:
    """Return the bytes of *value* as the shortest JSON."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())
