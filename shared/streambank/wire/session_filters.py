"""Which sessions and events a list asks for, and in which order."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from streambank.errors import InvalidArgument
from streambank.model.session import Session, SessionEvent
from streambank.rules.filtering import Filter, Kind, parse, parse_order
from streambank.rules.filtering.order import SortKey

_SESSION_FIELDS = {"display_name": Kind.TEXT, "user_id": Kind.TEXT, "labels": Kind.TEXT_MAP}
_EVENT_FIELDS = {"timestamp": Kind.TIMESTAMP}
SESSION_ORDERS = ("update_time", "create_time")
EVENT_ORDERS = ("timestamp",)


@dataclass(frozen=True, slots=True)
class SessionFilter:
    """A test that sessions are put to; as a string the same for equal filters."""

    said: Filter

    def __call__(self, session: Session) -> bool:
        return self.said.matches(
            {"display_name": session.display_name, "user_id": session.user_id, "labels": session.labels}
        )

    def __str__(self) -> str:
        return str(self.said)

    @property
    def user_id(self) -> str | None:
        """Return the only user whose sessions can match, if there is one: they need no walk of the bank."""
        pinned = self.said.pinned("user_id")
        return pinned if isinstance(pinned, str) else None


@dataclass(frozen=True, slots=True)
class EventFilter:
    """A test that events are put to; as a string the same for equal filters."""

    said: Filter

    def __call__(self, event: SessionEvent) -> bool:
        return self.said.matches({"timestamp": event.timestamp})

    def __str__(self) -> str:
        return str(self.said)


def session_filter(text: str | None) -> SessionFilter:
    """Return the test for sessions that *text* describes. Raises InvalidArgument."""
    return SessionFilter(parse(text or "", _SESSION_FIELDS))


def event_filter(text: str | None) -> EventFilter:
    """Return the test for events that *text* describes. Raises InvalidArgument."""
    return EventFilter(parse(text or "", _EVENT_FIELDS))


def sort_key(text: str | None, fields: Collection[str]) -> SortKey | None:
    """Return the one field of *fields* that *text* orders by; None without a text. Raises InvalidArgument."""
    if not text or not text.strip():
        return None
    first, *more = parse_order(text, fields, "").keys
    if more:
        raise InvalidArgument("orderBy", "may name one field")
    return first
