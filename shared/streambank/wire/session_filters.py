"""Filters and orders for lists of sessions and of their events."""

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
    """A filter for sessions; its string is the same for equal filters."""

    filter: Filter

    def __call__(self, session: Session) -> bool:
        return self.filter.matches(
            {"display_name": session.display_name, "user_id": session.user_id, "labels": session.labels}
        )

    def __str__(self) -> str:
        return str(self.filter)

    @property
    def user_id(self) -> str | None:
        """Return the only user whose sessions can match, or None: such a list needs no walk through the bank."""
        pinned = self.filter.pinned("user_id")
        return pinned if isinstance(pinned, str) else None


@dataclass(frozen=True, slots=True)
class EventFilter:
    """A filter for events; its string is the same for equal filters."""

    filter: Filter

    def __call__(self, event: SessionEvent) -> bool:
        return self.filter.matches({"timestamp": event.timestamp})

    def __str__(self) -> str:
        return str(self.filter)


def session_filter(text: str | None) -> SessionFilter:
    """Return the filter for sessions in *text*. Raises InvalidArgument."""
    return SessionFilter(parse(text or "", _SESSION_FIELDS))


def event_filter(text: str | None) -> EventFilter:
    """Return the filter for events in *text*. Raises InvalidArgument."""
    return EventFilter(parse(text or "", _EVENT_FIELDS))


def sort_key(text: str | None, fields: Collection[str]) -> SortKey | None:
    """Return the sort key in *text*, one of *fields*; None without a text. Raises InvalidArgument."""
    if not text or not text.strip():
        return None
    first, *more = parse_order(text, fields, "").keys
    if more:
        raise InvalidArgument("orderBy", "may name one field")
    return first
