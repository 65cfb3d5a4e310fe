"""Making, changing, reading and ending sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
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

# A reply takes 6 MB inside Lambda, and its JSON is escaped there once more.
MAX_PAGE_BYTES = 2_000_000
_CHUNK = 100
_TOO_FAST = "the session is written too fast; try again"

P = TypeVar("P")
T = TypeVar("T", Session, SessionEvent)


NEWEST_FIRST = SortKey("update_time", descending=True)


# ---- one session


def existing(bank: str, session_id: str, *, sessions: Sessions, now: datetime) -> Session:
    """Return a live session. Raises NotFound if there is none."""
    session = sessions.live(bank, session_id, now=now)
    if session is None:
        raise NotFound(f"there is no session {session_id!r}")
    return session


def create(
    bank: str, session_id: str, said: SessionFields, *, sessions: Sessions, retry_policy: RetryPolicy, now: datetime
) -> Session:
    """Store a new session, in the place of an expired one if need be.

    Raises:
        AlreadyExists: the id is taken.
        InvalidArgument: it would have expired already.
        Unavailable: somebody else works on the same id.
    """
    session = rules.new_session(session_id, said, now=now)
    _check_expiry(session, now)
    for _ in retry_policy.attempts():
        try:
            sessions.create(bank, session)
        except Conflict:
            _make_way(bank, session_id, sessions, now)
        else:
            return session
    raise Unavailable(_TOO_FAST)


def _check_expiry(session: Session, now: datetime) -> None:
    if not session.is_live(now):
        raise InvalidArgument("expireTime", "must be in the future")


def _make_way(bank: str, session_id: str, sessions: Sessions, now: datetime) -> None:
    remains = sessions.find(bank, session_id)
    if remains and remains.is_live(now):
        raise AlreadyExists(f"there is a session {session_id!r} already")
    if remains:
        _buried(bank, remains, sessions, now)


def _buried(bank: str, session: Session, sessions: Sessions, now: datetime) -> bool:
    try:
        sessions.bury(bank, session, now=now)
    except Conflict:
        return False
    return True


def update(
    bank: str, session_id: str, said: SessionFields, *, sessions: Sessions, retry_policy: RetryPolicy, now: datetime
) -> Session:
    """Change what *said* speaks of and nothing else.

    Raises:
        NotFound: there is no such session.
        InvalidArgument: it would be another user's, or would have expired already.
        Unavailable: it is changed too often at once.
    """
    for _ in retry_policy.attempts():
        before = existing(bank, session_id, sessions=sessions, now=now)
        if said.user_id not in (None, before.user_id):
            raise InvalidArgument("userId", "cannot change")
        after = rules.updated_session(before, said, now=now)
        _check_expiry(after, now)
        try:
            return _rewritten(bank, before, after, said, sessions)
        except Conflict:
            continue
    raise Unavailable(_TOO_FAST)


def _rewritten(bank: str, before: Session, after: Session, said: SessionFields, sessions: Sessions) -> Session:
    """Events must never expire before their session: they go first to a later end, last to an earlier one."""
    is_retimed, is_later = "expiry" in said.changed, before.is_extended_by(after.expires)
    if is_retimed and is_later:
        sessions.retime(bank, before, after.expires)
    stored = sessions.update(bank, before, after)
    if is_retimed and not is_later:
        sessions.retime(bank, stored, stored.expires)
    return stored


def delete(bank: str, session_id: str, *, sessions: Sessions, retry_policy: RetryPolicy, now: datetime) -> None:
    """Delete a session and all that it holds; a deletion that stopped half-way is finished.

    Raises:
        NotFound: there is no such session.
        Unavailable: it is written too often at once.
    """
    for attempt in retry_policy.attempts():
        session = sessions.find(bank, session_id)
        if session is None and attempt:
            return  # somebody else's deletion came first
        if session is None or not (session.deleted or session.is_live(now)):
            raise NotFound(f"there is no session {session_id!r}")
        if _buried(bank, session, sessions, now):
            return
    raise Unavailable(_TOO_FAST)


def append(
    bank: str, session_id: str, event: SessionEvent, *, sessions: Sessions, retry_policy: RetryPolicy, now: datetime
) -> SessionEvent:
    """Append an event, merge what it says of the state, and return it as stored.

    Raises:
        NotFound: there is no such session.
        InvalidArgument: the state would grow too large.
        Unavailable: the session is written too often at once.
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
    raise Unavailable(_TOO_FAST)


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
) -> tuple[list[Session], SessionCursor | None]:
    """Return a page of a bank's sessions and where it ends if more follow; *user_id* spares walking the others'."""

    def rows(places: Iterator[SessionCursor]) -> Iterator[tuple[SessionCursor, Session]]:
        for chunk in _chunks(places):
            found = sessions.read(bank, [place.session_id for place in chunk], now=now)
            live = ((place, found[place.session_id]) for place in chunk if place.session_id in found)
            yield from ((place, session) for place, session in live if matches(session))

    if order == NEWEST_FIRST and user_id is None:
        return _page(rows(sessions.newest(bank, after)), size)
    everywhere = sessions.newest(bank, None) if user_id is None else sessions.of_user(bank, user_id)
    # Only places are held in memory; what they stand for is read again, page by page.
    ordered = sorted((_position(session, order) for _, session in rows(everywhere)), reverse=order.descending)
    rest = (place for place in ordered if after is None or (place < after if order.descending else place > after))
    return _page(rows(rest), size)


def _position(session: Session, order: SortKey) -> SessionCursor:
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
) -> tuple[list[SessionEvent], int | None]:
    """Return a page of a session's events and the number that it ends with if more follow.

    They come in the order in which they were appended, or with *order* in that of their own times.
    """

    def rows(numbers: Iterator[int]) -> Iterator[tuple[int, SessionEvent]]:
        for chunk in _chunks(numbers):
            found = sessions.read_events(bank, session, chunk)
            yield from ((number, found[number]) for number in chunk if number in found)

    if order is None:
        found = filter(matches, sessions.events(bank, session, after=after))
        return _page(((event.number, event) for event in found), size)
    times = ((event.timestamp, event.number) for event in sessions.events(bank, session) if matches(event))
    numbers = [number for _, number in sorted(times, reverse=order.descending)]
    start = numbers.index(after) + 1 if after in numbers else 0
    return _page(rows(iter(numbers[start:])), size)


def _chunks(places: Iterator[P]) -> Iterator[list[P]]:
    while chunk := list(islice(places, _CHUNK)):
        yield chunk


def _page(rows: Iterable[tuple[P, T]], size: int) -> tuple[list[T], P | None]:
    """Return the first *size* rows, fewer where they are heavy, and where the last one stands if more follow."""
    shown: list[T] = []
    weight, end = 0, None
    for place, row in rows:
        weight += row.weight
        if shown and (len(shown) == size or weight > MAX_PAGE_BYTES):
            return shown, end
        shown.append(row)
        end = place
    return shown, None


# ---- generation


def session_turns(
    bank: str, session_id: str, *, start: datetime | None, end: datetime | None, sessions: Sessions, now: datetime
) -> tuple[Session, list[Event]]:
    """Return a session and its events with content from *start* to before *end*, as they were appended.

    Raises:
        NotFound: there is no such session.
    """
    session = existing(bank, session_id, sessions=sessions, now=now)
    found = (event for event in sessions.events(bank, session) if _is_within(event.timestamp, start, end))
    turns = (event.turn() for event in found)
    return session, [turn for turn in turns if turn]


def _is_within(instant: datetime, start: datetime | None, end: datetime | None) -> bool:
    return (start is None or start <= instant) and (end is None or instant < end)
