"""Creating, changing, reading and deleting sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import TypeVar

from streambank.errors import AlreadyExists, Conflict, InvalidArgument, NotFound, Unavailable
from streambank.model import session as rules
from streambank.model.event import Event
from streambank.model.session import MAX_STATE_BYTES, Session, SessionCursor, SessionEvent, SessionFields
from streambank.retry import RetryPolicy
from streambank.rules.filtering.order import SortKey
from streambank.store.attributes import milliseconds
from streambank.store.sessions import Sessions
from streambank.wire.page_room import page, weightless

_CHUNK = 100
_CONTENDED = "the session is written by others at the same time; try again"

P = TypeVar("P")

NEWEST_FIRST = SortKey("update_time", descending=True)


# ---- one session


def existing(bank: str, session_id: str, *, sessions: Sessions, now: datetime) -> Session:
    """Return a live session. Raises NotFound if there is none."""
    session = sessions.live(bank, session_id, now=now)
    if session is None:
        raise NotFound(f"there is no session {session_id!r}")
    return session


def create(
    bank: str, session_id: str, fields: SessionFields, *, sessions: Sessions, retry_policy: RetryPolicy, now: datetime
) -> Session:
    """Store a new session; the remains of an expired one with its id are deleted first.

    Raises:
        AlreadyExists: the id is taken.
        InvalidArgument: it would have expired already.
        Unavailable: others write a session with the same id at the same time.
    """
    session = rules.new_session(session_id, fields, now=now)
    _check_expiry(session, now)
    for _ in retry_policy.attempts():
        try:
            sessions.create(bank, session)
        except Conflict:
            _delete_expired(bank, session_id, sessions, now)
        else:
            return session
    raise Unavailable(_CONTENDED)


def _check_expiry(session: Session, now: datetime) -> None:
    if not session.is_live(now):
        raise InvalidArgument("expireTime", "must be in the future")


def _delete_expired(bank: str, session_id: str, sessions: Sessions, now: datetime) -> None:
    remains = sessions.find(bank, session_id)
    if remains and remains.is_live(now):
        raise AlreadyExists(f"there is a session {session_id!r} already")
    if remains:
        _try_delete(bank, remains, sessions, now)


def _try_delete(bank: str, session: Session, sessions: Sessions, now: datetime) -> bool:
    try:
        sessions.delete(bank, session, now=now)
    except Conflict:
        return False
    return True


def update(
    bank: str, session_id: str, fields: SessionFields, *, sessions: Sessions, retry_policy: RetryPolicy, now: datetime
) -> Session:
    """Change the fields that *fields* names and no other.

    Raises:
        NotFound: there is no such session.
        InvalidArgument: it would be another user's, or would have expired already.
        Unavailable: it is written by others at the same time.
    """
    for _ in retry_policy.attempts():
        before = existing(bank, session_id, sessions=sessions, now=now)
        if fields.user_id not in (None, before.user_id):
            raise InvalidArgument("userId", "cannot change")
        after = rules.updated_session(before, fields, now=now)
        _check_expiry(after, now)
        try:
            return _rewrite(bank, before, after, fields, sessions)
        except Conflict:
            continue
    raise Unavailable(_CONTENDED)


def _rewrite(bank: str, before: Session, after: Session, fields: SessionFields, sessions: Sessions) -> Session:
    """Write *after*. No event may expire before its session: a later expiry is set first, an earlier one last."""
    has_expiry, is_later = "expiry" in fields.changed, before.is_extended_by(after.expires)
    if has_expiry and is_later:
        sessions.set_event_expiry(bank, before, after.expires)
    stored = sessions.update(bank, before, after)
    if has_expiry and not is_later:
        sessions.set_event_expiry(bank, stored, stored.expires)
    return stored


def delete(bank: str, session_id: str, *, sessions: Sessions, retry_policy: RetryPolicy, now: datetime) -> None:
    """Delete a session and its events; a deletion that was interrupted is finished.

    Raises:
        NotFound: there is no such session.
        Unavailable: it is written by others at the same time.
    """
    for attempt in retry_policy.attempts():
        session = sessions.find(bank, session_id)
        if session is None and attempt:
            return  # it was deleted meanwhile
        if session is None or not (session.deleted or session.is_live(now)):
            raise NotFound(f"there is no session {session_id!r}")
        if _try_delete(bank, session, sessions, now):
            return
    raise Unavailable(_CONTENDED)


def append(
    bank: str, session_id: str, event: SessionEvent, *, sessions: Sessions, retry_policy: RetryPolicy, now: datetime
) -> SessionEvent:
    """Append an event, merge its state delta into the session's state, and return it as stored.

    Raises:
        NotFound: there is no such session.
        InvalidArgument: the state would grow too large.
        Unavailable: the session is written by others at the same time.
    """
    for _ in retry_policy.attempts():
        before = existing(bank, session_id, sessions=sessions, now=now)
        stored = replace(event, number=before.last + 1)
        state = rules.merge_state(before.state, event.state_delta)
        if event.state_delta:
            _check_state(state)
        after = replace(before, state=state, last=stored.number, updated=rules.truncate_to_millisecond(now))
        try:
            sessions.append(bank, before, after, stored)
        except Conflict:
            continue
        return stored
    raise Unavailable(_CONTENDED)


def _check_state(state: dict[str, object]) -> None:
    size = rules.json_size(state)
    if size > MAX_STATE_BYTES:
        problem = f"would make the state {size} bytes of JSON; the limit is {MAX_STATE_BYTES}"
        raise InvalidArgument("actions.stateDelta", problem)


# ---- lists


def in_bank(
    bank: str,
    matches: Callable[[Session], bool],
    size: int,
    after: SessionCursor | None,
    *,
    sessions: Sessions,
    now: datetime,
    order: SortKey = NEWEST_FIRST,
    user_id: str | None = None,
    weigh: Callable[[Session], int] = weightless,
) -> tuple[list[Session], SessionCursor | None]:
    """Return a page of a bank's sessions, and its end if more follow; with a *user_id* only that user's are read."""

    def rows(cursors: Iterator[SessionCursor]) -> Iterator[tuple[SessionCursor, Session]]:
        for chunk in _chunks(cursors):
            by_id = sessions.read(bank, [cursor.session_id for cursor in chunk], now=now)
            live = ((cursor, by_id[cursor.session_id]) for cursor in chunk if cursor.session_id in by_id)
            yield from ((cursor, session) for cursor, session in live if matches(session))

    if order == NEWEST_FIRST and user_id is None:
        return page(rows(sessions.newest(bank, after)), size, weigh)
    everywhere = sessions.newest(bank, None) if user_id is None else sessions.of_user(bank, user_id)
    # Only cursors are kept in memory; their sessions are read again, page by page.
    ordered = sorted((_cursor(session, order) for _, session in rows(everywhere)), reverse=order.descending)
    rest = (cursor for cursor in ordered if after is None or (cursor < after if order.descending else cursor > after))
    return page(rows(rest), size, weigh)


def _cursor(session: Session, order: SortKey) -> SessionCursor:
    time = session.created if order.field == "create_time" else session.updated
    return SessionCursor(milliseconds(time) or 0, session.id)


def in_session(
    bank: str,
    session: Session,
    matches: Callable[[SessionEvent], bool],
    size: int,
    after: int | None,
    *,
    sessions: Sessions,
    order: SortKey | None = None,
    weigh: Callable[[SessionEvent], int] = weightless,
) -> tuple[list[SessionEvent], int | None]:
    """Return a page of a session's events, and the number of its last if more follow.

    They are in the order in which they were appended, or with *order* in that of their own times.
    """

    def rows(numbers: Iterator[int]) -> Iterator[tuple[int, SessionEvent]]:
        for chunk in _chunks(numbers):
            events = sessions.read_events(bank, session, chunk)
            yield from ((number, events[number]) for number in chunk if number in events)

    if order is None:
        matching = filter(matches, sessions.events(bank, session, after=after))
        return page(((event.number, event) for event in matching), size, weigh)
    times = ((event.timestamp, event.number) for event in sessions.events(bank, session) if matches(event))
    numbers = [number for _, number in sorted(times, reverse=order.descending)]
    start = numbers.index(after) + 1 if after in numbers else 0
    return page(rows(iter(numbers[start:])), size, weigh)


def _chunks(cursors: Iterator[P]) -> Iterator[list[P]]:
    while chunk := list(islice(cursors, _CHUNK)):
        yield chunk


# ---- generation


def session_turns(
    bank: str, session_id: str, *, start: datetime | None, end: datetime | None, sessions: Sessions, now: datetime
) -> tuple[Session, list[Event]]:
    """Return a session and its events with content from *start* to before *end*, as they were appended.

    Raises:
        NotFound: there is no such session.
    """
    session = existing(bank, session_id, sessions=sessions, now=now)
    within = (event for event in sessions.events(bank, session) if _is_within(event.timestamp, start, end))
    turns = (event.turn() for event in within)
    return session, [turn for turn in turns if turn]


def _is_within(instant: datetime, start: datetime | None, end: datetime | None) -> bool:
    return (start is None or start <= instant) and (end is None or instant < end)
