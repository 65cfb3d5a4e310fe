"""Sessions and their events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from streambank_client import types
from streambank_client.calls.replies import (
    OperationSnapshot,
    delete_call,
    list_call,
    read_nothing,
    read_object,
    read_operation,
    read_page,
)
from streambank_client.calls.requests import body_fields, query_parameters
from streambank_client.calls.resources import ResourcePath
from streambank_client.http.call import Call, PagedCall


def create_session(
    resource: ResourcePath,
    /,
    *,
    user_id: str,
    session_id: str | None = None,
    display_name: str | None = None,
    session_state: Mapping[str, Any] | None = None,
    labels: Mapping[str, str] | None = None,
    ttl: timedelta | str | None = None,
    expire_time: datetime | None = None,
) -> Call[OperationSnapshot[types.Session]]:
    """Create a session; the service chooses its id if *session_id* (1 to 128 of `A-Z a-z 0-9 . _ -`) is not given.

    The call is not repeated when its outcome is unknown: there could be two sessions.

    Raises:
        AlreadyExists: the id is taken.
    """
    body = body_fields(
        user_id=user_id,
        display_name=display_name,
        session_state=session_state,
        labels=labels,
        ttl=ttl,
        expire_time=expire_time,
    )
    return Call(
        method="POST",
        path=f"{resource.path}/sessions",
        parse=read_operation(types.Session),
        repeatable=False,
        query=query_parameters(session_id=session_id),
        body=body,
    )


def list_sessions(
    resource: ResourcePath, /, *, filter: str | None = None, order_by: str | None = None, page_size: int | None = None
) -> PagedCall[types.Session]:
    """List sessions by their last change, newest first; *page_size* is 1 to 1,000 (100)."""
    path = f"{resource.path}/sessions"
    return list_call(path, read_page(types.Session, "sessions"), filter=filter, order_by=order_by, page_size=page_size)


def get_session(resource: ResourcePath, /, *, session: str) -> Call[types.Session]:
    """Return a session by its id or name."""
    return Call(
        method="GET", path=resource.child("sessions", session).path, parse=read_object(types.Session), repeatable=True
    )


def update_session(
    resource: ResourcePath,
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
    """Change the given fields of a session, or those of *update_mask*; a field that only the mask names is cleared."""
    body = body_fields(
        display_name=display_name, session_state=session_state, labels=labels, ttl=ttl, expire_time=expire_time
    )
    return Call(
        method="PATCH",
        path=resource.child("sessions", session).path,
        parse=read_object(types.Session),
        repeatable=True,
        query=query_parameters(update_mask=None if update_mask is None else ",".join(update_mask)),
        body=body,
    )


def delete_session(resource: ResourcePath, /, *, session: str) -> Call[OperationSnapshot[types.Nothing]]:
    """Delete a session and its events."""
    return delete_call(resource.child("sessions", session))


def append_event(
    resource: ResourcePath,
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
    """Append an event to a session; `actions.stateDelta` is merged into the session's state.

    The call is not repeated when its outcome is unknown: the event could be there twice.
    """
    body = body_fields(
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
    path = f"{resource.child('sessions', session).path}:appendEvent"
    return Call(method="POST", path=path, parse=read_nothing, repeatable=False, body=body)


def list_session_events(
    resource: ResourcePath,
    /,
    *,
    session: str,
    filter: str | None = None,
    order_by: str | None = None,
    page_size: int | None = None,
) -> PagedCall[types.SessionEvent]:
    """List the events of a session as they were appended, or by `timestamp`; *page_size* is 1 to 1,000 (100)."""
    path = f"{resource.child('sessions', session).path}/events"
    parse = read_page(types.SessionEvent, "sessionEvents")
    return list_call(path, parse, filter=filter, order_by=order_by, page_size=page_size)
