"""Sessions and their events."""

from __future__ import annotations

import secrets

from streambank.api.api_request import ApiRequest
from streambank.api.route import Routes
from streambank.errors import NotFound
from streambank.model import session as model
from streambank.model.bank import Bank
from streambank.model.principal import Role
from streambank.model.session import SessionCursor, SessionFields
from streambank.pipeline.screening.conversations import refused_or_screened_event, screened_fields
from streambank.pipeline.sessions import sessions
from streambank.pipeline.sessions.sessions import NEWEST_FIRST
from streambank.rules import access
from streambank.wire import page_room, parameters, session_filters
from streambank.wire import session as wire
from streambank.wire.reply import Empty, EmptyOperation, without_nulls
from streambank.wire.session import CreateSessionRequest, Session, SessionOperation, Sessions, UpdateSessionRequest
from streambank.wire.session_event import AppendEventRequest, SessionEvents, session_event

routes = Routes()


def _bank(request: ApiRequest) -> str:
    """Return the id of the bank of the path. Raises as `_whole_bank` does."""
    return _whole_bank(request).id


def _whole_bank(request: ApiRequest) -> Bank:
    """Return the bank of the path. Raises NotFound, and PermissionDenied for a caller bound to more than a user."""
    access.check_sessions(request.principal)
    return request.bank()


def _screened(bank: Bank, fields: SessionFields, request: ApiRequest) -> SessionFields:
    """Return the fields of a session as the bank's content policy leaves them. Raises InvalidArgument."""
    policy = bank.content_policy
    return screened_fields(fields, policy, screening=request.wiring.screenings.of(bank.id)) if policy else fields


def _name(request: ApiRequest, session_id: str) -> str:
    return f"{request.path.bank_name}/sessions/{session_id}"


def _visible(request: ApiRequest, session_id: str) -> model.Session:
    """Return a session that the caller may know of. Raises NotFound."""
    session = sessions.existing(_bank(request), session_id, sessions=request.stores.sessions, now=request.wiring.now())
    if not access.sees_user(request.principal, session.user_id):
        raise NotFound(f"there is no session {session_id!r}")
    return session


def _check_user(request: ApiRequest, session_id: str) -> Bank:
    """Return the bank. Raises NotFound if a session is of a user that the caller may not know of."""
    bank = _whole_bank(request)
    session = request.stores.sessions.find(bank.id, session_id) if request.principal.scope is not None else None
    if session and not access.sees_user(request.principal, session.user_id):
        raise NotFound(f"there is no session {session_id!r}")
    return bank


@routes.post(
    "/sessions",
    "createSession",
    "Creates a session.",
    role=Role.EDIT,
    parameters=(parameters.NEW_SESSION_ID,),
    creates=True,
)
def create_session(request: ApiRequest, body: CreateSessionRequest) -> SessionOperation:
    """Create a session under an id of the caller's, or a random number of 63 bits, as the reference's ids look."""
    session_id = wire.session_id(request.query.get("sessionId")) or str(secrets.randbits(62) + 2**62)
    fields = body.fields()
    access.check_user(request.principal, fields.user_id)
    bank = _whole_bank(request)
    created = sessions.create(
        bank.id,
        session_id,
        _screened(bank, fields, request),
        sessions=request.stores.sessions,
        retry_policy=request.wiring.deployment.retry_policy,
        now=request.wiring.now(),
    )
    name = f"{_name(request, created.id)}/operations/create"
    return SessionOperation(name=name, done=True, response=wire.session(created, request.path.bank_name))


@routes.get(
    "/sessions",
    "listSessions",
    "Lists sessions.",
    parameters=(parameters.SESSION_FILTER, parameters.TIME_ORDER, *parameters.PAGE),
)
def list_sessions(request: ApiRequest) -> Sessions:
    """Return a page of the sessions that match a filter."""
    bank, matches = _bank(request), session_filters.session_filter(request.query.get("filter"))
    order = session_filters.sort_key(request.query.get("orderBy"), session_filters.SESSION_ORDERS) or NEWEST_FIRST
    name = f"sessions {bank} {order} {matches}"
    after = request.page_position(name, int, str)
    access.check_user(request.principal, matches.user_id)
    page, end = sessions.in_bank(
        bank,
        matches,
        request.page_size,
        SessionCursor(*after) if after else None,
        sessions=request.stores.sessions,
        now=request.wiring.now(),
        order=order,
        user_id=matches.user_id,
        weigh=lambda session: page_room.body_bytes(wire.session(session, request.path.bank_name)),
    )
    return without_nulls(
        Sessions(
            sessions=[wire.session(session, request.path.bank_name) for session in page],
            nextPageToken=request.next_page_token(name, list(end) if end else None),
        )
    )


@routes.get("/sessions/{session}", "getSession", "Returns a session.")
def get_session(request: ApiRequest, session_id: str) -> Session:
    """Return a session."""
    return wire.session(_visible(request, session_id), request.path.bank_name)


@routes.patch(
    "/sessions/{session}",
    "updateSession",
    "Changes a session.",
    role=Role.EDIT,
    parameters=(parameters.SESSION_MASK,),
)
def update_session(request: ApiRequest, body: UpdateSessionRequest, session_id: str) -> Session:
    """Change the fields of updateMask, or those of the body."""
    fields = body.fields(request.query.get("updateMask"))
    bank = _check_user(request, session_id)
    changed = sessions.update(
        bank.id,
        session_id,
        _screened(bank, fields, request),
        sessions=request.stores.sessions,
        retry_policy=request.wiring.deployment.retry_policy,
        now=request.wiring.now(),
    )
    return wire.session(changed, request.path.bank_name)


@routes.delete("/sessions/{session}", "deleteSession", "Deletes a session and its events.", role=Role.EDIT)
def delete_session(request: ApiRequest, session_id: str) -> EmptyOperation:
    """Delete a session and its events."""
    _check_user(request, session_id)
    sessions.delete(
        request.path.bank,
        session_id,
        sessions=request.stores.sessions,
        retry_policy=request.wiring.deployment.retry_policy,
        now=request.wiring.now(),
    )
    return EmptyOperation(name=f"{_name(request, session_id)}/operations/delete", done=True, response=Empty())


@routes.get("/sessions/{session}/operations/create", "getSessionCreation", "Returns the creation of a session.")
def get_session_creation(request: ApiRequest, session_id: str) -> SessionOperation:
    """Return a finished operation."""
    name = f"{_name(request, session_id)}/operations/create"
    session = wire.session(_visible(request, session_id), request.path.bank_name)
    return SessionOperation(name=name, done=True, response=session)


@routes.get("/sessions/{session}/operations/delete", "getSessionDeletion", "Returns the deletion of a session.")
def get_session_deletion(request: ApiRequest, session_id: str) -> EmptyOperation:
    """Return a finished operation: a session that does not exist may have been deleted, one that exists was not."""
    session = request.stores.sessions.live(_bank(request), session_id, now=request.wiring.now())
    if session and access.sees_user(request.principal, session.user_id):
        raise NotFound(f"session {session_id!r} was not deleted")
    return EmptyOperation(name=f"{_name(request, session_id)}/operations/delete", done=True, response=Empty())


@routes.post("/sessions/{session}:appendEvent", "appendEvent", "Appends an event to a session.", role=Role.EDIT)
def append_event(request: ApiRequest, body: AppendEventRequest, session_id: str) -> Empty:
    """Append an event to a session."""
    bank, event = _check_user(request, session_id), body.event()
    if bank.content_policy:
        event = refused_or_screened_event(event, bank.content_policy, screening=request.wiring.screenings.of(bank.id))
    sessions.append(
        bank.id,
        session_id,
        event,
        sessions=request.stores.sessions,
        retry_policy=request.wiring.deployment.retry_policy,
        now=request.wiring.now(),
    )
    return Empty()


@routes.get(
    "/sessions/{session}/events",
    "listSessionEvents",
    "Lists the events of a session.",
    parameters=(parameters.EVENT_FILTER, parameters.EVENT_ORDER, *parameters.PAGE),
)
def list_session_events(request: ApiRequest, session_id: str) -> SessionEvents:
    """Return a page of the events of a session."""
    session, matches = _visible(request, session_id), session_filters.event_filter(request.query.get("filter"))
    order = session_filters.sort_key(request.query.get("orderBy"), session_filters.EVENT_ORDERS)
    name = f"events {request.path.bank} {session_id} {session.first} {order} {matches}"
    after = request.page_position(name, int)
    page, end = sessions.in_session(
        request.path.bank,
        session,
        matches,
        request.page_size,
        after[0] if after else None,
        sessions=request.stores.sessions,
        order=order,
        weigh=lambda event: page_room.body_bytes(session_event(event, _name(request, session_id))),
    )
    return without_nulls(
        SessionEvents(
            sessionEvents=[session_event(event, _name(request, session_id)) for event in page],
            nextPageToken=request.next_page_token(name, None if end is None else [end]),
        )
    )
