"""Sessions and their events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from streambank_client import types
from streambank_client.calls import (
    Call,
    PagedCall,
    Place,
    Told,
    deletion,
    fields,
    listing,
    nothing,
    one,
    page,
    texts,
    told_of,
)


def create_session(
    place: Place,
    /,
    *,
    user_id: str,
    session_id: str | None = None,
    display_name: str | None = None,
    session_state: Mapping[str, Any] | None = None,
    labels: Mapping[str, str] | None = None,
    ttl: timedelta | str | None = None,
    expire_time: datetime | None = None,
) -> Call[Told[types.Session]]:
    """Make a session; its id is the service's, or *session_id* (1 to 128 of `A-Z a-z 0-9 . _ -`).

    It is not repeated when nobody knows what became of it: there could be two. Raises AlreadyExists for a taken id.
    """
    body = fields(
        user_id=user_id,
        display_name=display_name,
        session_state=session_state,
        labels=labels,
        ttl=ttl,
        expire_time=expire_time,
    )
    return Call(
        method="POST",
        path=f"{place.path}/sessions",
        parse=told_of(types.Session),
        repeatable=False,
        query=texts(session_id=session_id),
        body=body,
    )


def list_sessions(
    place: Place, /, *, filter: str | None = None, order_by: str | None = None, page_size: int | None = None
) -> PagedCall[types.Session]:
    """List sessions by their last change, newest first, in pages of 1 to 1,000 (100)."""
    path = f"{place.path}/sessions"
    return listing(path, page(types.Session, "sessions"), filter=filter, order_by=order_by, page_size=page_size)


def get_session(place: Place, /, *, session: str) -> Call[types.Session]:
    """Return a session by its id or name."""
    return Call(method="GET", path=place.under("sessions", session).path, parse=one(types.Session), repeatable=True)


def update_session(
    place: Place,
    /,
    *,
    session: str,
    display_name: str | None = None,
    session_state: Mapping[str, Any] | None = None,
    labels: Mapping[str, str] | None = None,
    ttl: timedelta | str | None = None,
    expire_time: datetime | None = None,
    update_mask: Sequence[str] | None = None,
) -> Call[types.Session]:
    """Change a session: what is given, or what *update_mask* names; what that names alone is emptied."""
    body = fields(
        display_name=display_name, session_state=session_state, labels=labels, ttl=ttl, expire_time=expire_time
    )
    return Call(
        method="PATCH",
        path=place.under("sessions", session).path,
        parse=one(types.Session),
        repeatable=True,
        query=texts(update_mask=None if update_mask is None else ",".join(update_mask)),
        body=body,
    )


def delete_session(place: Place, /, *, session: str) -> Call[Told[types.Nothing]]:
    """Delete a session and its events."""
    return deletion(place.under("sessions", session))


def append_event(
    place: Place,
    /,
    *,
    session: str,
    author: str,
    invocation_id: str,
    timestamp: datetime,
    content: types.Content | None = None,
    actions: Mapping[str, Any] | None = None,
    event_metadata: Mapping[str, Any] | None = None,
    error_code: str | None = None,
    error_message: str | None = None,
    raw_event: Mapping[str, Any] | None = None,
) -> Call[None]:
    """Append an event to a session; `actions.stateDelta` is merged into its state.

    It is not repeated when nobody knows what became of it: it would be there twice.
    """
    body = fields(
        author=author,
        invocation_id=invocation_id,
        timestamp=timestamp,
        content=content,
        actions=actions,
        event_metadata=event_metadata,
        error_code=error_code,
        error_message=error_message,
        raw_event=raw_event,
    )
    path = f"{place.under('sessions', session).path}:appendEvent"
    return Call(method="POST", path=path, parse=nothing, repeatable=False, body=body)


def list_session_events(
    place: Place,
    /,
    *,
    session: str,
    filter: str | None = None,
    order_by: str | None = None,
    page_size: int | None = None,
) -> PagedCall[types.SessionEvent]:
    """List the events of a session as they were appended, or by `timestamp`, in pages of 1 to 1,000 (100)."""
    path = f"{place.under('sessions', session).path}/events"
    parse = page(types.SessionEvent, "sessionEvents")
    return listing(path, parse, filter=filter, order_by=order_by, page_size=page_size)
