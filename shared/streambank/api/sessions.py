"""Sessions and their events."""

from __future__ import annotations

import secrets
from typing import Any

from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from streambank import wiring
from streambank.api import asking
from streambank.api.asking import principal
from streambank.errors import NotFound
from streambank.model.session import Session, SessionCursor
from streambank.pipeline.sessions import sessions
from streambank.pipeline.sessions.sessions import NEWEST_FIRST
from streambank.rules import access
from streambank.store.sessions import Sessions
from streambank.wire import http, operation, paging, session_event, session_filters
from streambank.wire import session as session_wire

ROUTER = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


def _body() -> Any:
    return http.body(ROUTER.context["event"])


def _query(*names: str) -> str | None:
    """Return the query parameter of any of *names* that was given."""
    query = ROUTER.context["event"].get("queryStringParameters") or {}
    return next((str(query[name]) for name in names if query.get(name)), None)


def _bank() -> str:
    """Return the bank of the route. Raises NotFound if there is none, PermissionDenied for who is bound otherwise."""
    access.check_sessions(principal(ROUTER))
    if wiring.stores().banks.get(asking.place(ROUTER).bank) is None:
        raise NotFound(f"there is no bank {asking.place(ROUTER).bank!r}")
    return asking.place(ROUTER).bank


def _store() -> Sessions:
    return wiring.stores().sessions


def _name(session_id: str) -> str:
    return f"{asking.place(ROUTER).bank_name}/sessions/{session_id}"


def _shown(session: Session) -> dict[str, Any]:
    return session_wire.session(session, asking.place(ROUTER).bank_name)


def _existing(session_id: str) -> Session:
    session = sessions.existing(_bank(), session_id, sessions=_store(), now=wiring.now())
    if not access.sees_user(principal(ROUTER), session.user_id):
        raise NotFound(f"there is no session {session_id!r}")
    return session


def _known(session_id: str) -> str:
    """Return *session_id*. Raises NotFound if it is of a user whom the caller does not see."""
    bank, who = _bank(), principal(ROUTER)
    session = _store().find(bank, session_id) if who.scope is not None else None
    if session and not access.sees_user(who, session.user_id):
        raise NotFound(f"there is no session {session_id!r}")
    return session_id


def _page(query: str, *shape: type) -> tuple[int, list[Any] | None]:
    """Return how many rows are asked for, and after which position."""
    size = paging.page_size(_query("pageSize", "page_size"))
    return size, paging.position(query, _query("pageToken", "page_token"), shape, secret=wiring.page_secret())


def _with_token(page: dict[str, Any], query: str, *end: Any) -> dict[str, Any]:
    return page if None in end else {**page, "nextPageToken": paging.token(query, [*end], secret=wiring.page_secret())}


@ROUTER.post("/bank/sessions")
def create() -> dict[str, Any]:
    # A random number of 63 bits, as the reference's ids look.
    session_id = session_wire.session_id(_query("sessionId", "session_id")) or str(secrets.randbits(62) + 2**62)
    said = session_wire.new_session(_body())
    access.check_user(principal(ROUTER), said.user_id)
    made = sessions.create(
        _bank(), session_id, said, sessions=_store(), retry_policy=wiring.stores().retry_policy, now=wiring.now()
    )
    return operation.finished(f"{_name(made.id)}/operations/create", _shown(made))


@ROUTER.get("/bank/sessions")
def listed() -> dict[str, Any]:
    bank, matches = _bank(), session_filters.session_filter(_query("filter"))
    order = session_filters.sort_key(_query("orderBy", "order_by"), session_filters.SESSION_ORDERS) or NEWEST_FIRST
    query = f"sessions {bank} {order} {matches}"
    size, where = _page(query, int, str)
    after = SessionCursor(*where) if where else None
    user_id = matches.user_id
    access.check_user(principal(ROUTER), user_id)
    shown, end = sessions.in_bank(
        bank, matches, size, after, sessions=_store(), now=wiring.now(), order=order, user_id=user_id
    )
    return _with_token({"sessions": [_shown(session) for session in shown]}, query, *(end or [None]))


@ROUTER.get("/bank/sessions/<session_id>")
def get(session_id: str) -> dict[str, Any]:
    return _shown(_existing(session_id))


@ROUTER.patch("/bank/sessions/<session_id>")
def update(session_id: str) -> dict[str, Any]:
    said = session_wire.changed_session(_body(), _query("updateMask", "update_mask"))
    changed = sessions.update(
        _bank(),
        _known(session_id),
        said,
        sessions=_store(),
        retry_policy=wiring.stores().retry_policy,
        now=wiring.now(),
    )
    return _shown(changed)


@ROUTER.delete("/bank/sessions/<session_id>")
def delete(session_id: str) -> dict[str, Any]:
    known, retry_policy = _known(session_id), wiring.stores().retry_policy
    sessions.delete(_bank(), known, sessions=_store(), retry_policy=retry_policy, now=wiring.now())
    return operation.finished(f"{_name(session_id)}/operations/delete", {})


@ROUTER.get("/bank/sessions/<session_id>/operations/create")
def created(session_id: str) -> dict[str, Any]:
    return operation.finished(f"{_name(session_id)}/operations/create", _shown(_existing(session_id)))


@ROUTER.get("/bank/sessions/<session_id>/operations/delete")
def deleted(session_id: str) -> dict[str, Any]:
    """A session that is not there may have been deleted; one that is has no such operation."""
    session = _store().live(_bank(), session_id, now=wiring.now())
    if session and access.sees_user(principal(ROUTER), session.user_id):
        raise NotFound(f"session {session_id!r} was not deleted")
    return operation.finished(f"{_name(session_id)}/operations/delete", {})


@ROUTER.post("/bank/sessions/<session_id>:appendEvent")
def append_event(session_id: str) -> dict[str, Any]:
    event = session_event.session_event(_body())
    known, retry_policy = _known(session_id), wiring.stores().retry_policy
    sessions.append(_bank(), known, event, sessions=_store(), retry_policy=retry_policy, now=wiring.now())
    return {}


@ROUTER.get("/bank/sessions/<session_id>/events")
def events(session_id: str) -> dict[str, Any]:
    session, matches = _existing(session_id), session_filters.event_filter(_query("filter"))
    order = session_filters.sort_key(_query("orderBy", "order_by"), session_filters.EVENT_ORDERS)
    query = f"events {asking.place(ROUTER).bank} {session_id} {session.first} {order} {matches}"
    size, where = _page(query, int)
    after = where[0] if where else None
    found, end = sessions.in_session(
        asking.place(ROUTER).bank, session, matches, size, after, sessions=_store(), order=order
    )
    shown = [session_event.shown(event, _name(session_id)) for event in found]
    return _with_token({"sessionEvents": shown}, query, end)
