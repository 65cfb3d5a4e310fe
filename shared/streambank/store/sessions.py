"""Sessions: every write is conditional on the head's version, and a deleted session leaves no items."""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from typing import Any

from streambank.errors import Conflict
from streambank.model import ids
from streambank.model.session import Session, SessionCursor, SessionEvent
from streambank.rules.batches import batches
from streambank.store import codec, keys, policy_codec, text
from streambank.store.actions import Condition, ConditionCheck, Delete, Put, Update, absent, equals, present
from streambank.store.attributes import instant, milliseconds, seconds
from streambank.store.keys import Kind
from streambank.store.table import Table

# TransactWriteItems takes 100 actions.
_UPDATES_TOGETHER = 100
_INDEX_PAGE = 100


class Sessions:
    """The access patterns of `X#`."""

    def __init__(self, table: Table) -> None:
        self._table = table

    # ---- reading

    def find(self, bank: str, session_id: str) -> Session | None:
        """Return a session as it is stored, also one that is expired or being deleted; or None."""
        item = self._table.get(keys.session_head(bank, session_id))
        return session_of(item) if item else None

    def live(self, bank: str, session_id: str, *, now: datetime) -> Session | None:
        """Return a live session, or None."""
        session = self.find(bank, session_id)
        return session if session and session.is_live(now) else None

    def read(self, bank: str, session_ids: Iterable[str], *, now: datetime) -> dict[str, Session]:
        """Return those of *session_ids* that are live, read again: an index may lag."""
        items = self._table.read(keys.session_head(bank, name) for name in session_ids)
        sessions = map(session_of, items.values())
        return {session.id: session for session in sessions if session.is_live(now)}

    def newest(self, bank: str, after: SessionCursor | None) -> Iterator[SessionCursor]:
        """Yield update time and id of a bank's sessions, newest first as index `list` has them, after *after*."""
        shards = (
            self._table.query_index(
                "list", partition, up_to=after.rank if after else None, backward=True, page=_INDEX_PAGE
            )
            for partition in keys.list_partitions(bank, Kind.SESSION)
        )
        merged = heapq.merge(*(map(_cursor, shard) for shard in shards), key=_rank, reverse=True)
        # An index does not order what was written in the same millisecond.
        for _, ties in groupby(merged, key=_rank):
            yield from (cursor for cursor in sorted(ties, reverse=True) if after is None or cursor < after)

    def of_user(self, bank: str, user_id: str) -> Iterator[SessionCursor]:
        """Yield creation time and id of a user's sessions, newest first."""
        partition = keys.user_sessions(bank, ids.digest(user_id))
        items = self._table.query_index("list", partition, backward=True, page=_INDEX_PAGE)
        return (SessionCursor(item["G2SK"], keys.name_in(item["SK"])) for item in items)

    def events(self, bank: str, session: Session, *, after: int | None = None) -> Iterator[SessionEvent]:
        """Yield a session's events in the order of their numbers, from *after* on."""
        return map(event_of, self._event_items(bank, session, session.first if after is None else after))

    def _event_items(self, bank: str, session: Session, after: int) -> Iterator[dict[str, Any]]:
        """Yield the items of this session's events; items of an earlier session with its id may be there too."""
        if after >= session.last:
            return iter(())
        numbers = max(after, session.first) + 1, session.last
        first, last = (keys.session_event(bank, session.id, number).sk for number in numbers)
        return self._table.query(keys.session(bank, session.id), between=(first, last))

    def read_events(self, bank: str, session: Session, numbers: Iterable[int]) -> dict[int, SessionEvent]:
        """Return those events of *numbers* that exist."""
        items = self._table.read(keys.session_event(bank, session.id, number) for number in numbers)
        return {event.number: event for event in map(event_of, items.values())}

    # ---- writing

    def create(self, bank: str, session: Session, *, guards: Sequence[ConditionCheck] = ()) -> None:
        """Store a new session. Raises Conflict if there is an item under its id, or one of *guards* fails."""
        put = Put(keys.session_head(bank, session.id), head_values(bank, session), absent())
        self._table.transact([put, _registration(bank, session), *guards])

    def update(self, bank: str, before: Session, after: Session) -> Session:
        """Write *after* over *before* and return it as stored. Raises Conflict if it was written meanwhile."""
        stored = replace(after, version=before.version + 1)
        self._table.transact([_head_put(bank, before, stored), _registration(bank, stored)])
        return stored

    def append(self, bank: str, before: Session, after: Session, event: SessionEvent) -> None:
        """Write *after* over *before* together with its newest event: one transaction. Raises as `update` does."""
        stored = replace(after, version=before.version + 1)
        key = keys.session_event(bank, after.id, event.number)
        values = {**event_values(event), "ttl": seconds(after.expires)}
        self._table.transact([_head_put(bank, before, stored), Put(key, values, absent())])

    def set_event_expiry(self, bank: str, session: Session, expires: datetime | None) -> None:
        """Let the events of a session expire at *expires*. Raises Conflict if some were deleted meanwhile."""
        ttl = seconds(expires)
        items = self._event_items(bank, session, session.first)
        stale = [keys.key_of(item) for item in items if item.get("ttl") != ttl]
        for chunk in batches(stale, _UPDATES_TOGETHER):
            self._table.transact([Update(key, {"ttl": ttl}, present()) for key in chunk])

    def delete(self, bank: str, session: Session, *, now: datetime) -> None:
        """Mark a session as deleted for every reader, then delete its items; a deletion that stopped may be repeated.

        The head is deleted last, because it tells that something is left. Raises Conflict.
        """
        if session.deleted is None:
            emptied = replace(session, deleted=now, state={}, labels={}, display_name=None, expires=None)
            session = self.update(bank, session, emptied)
        items = self._table.query(keys.session(bank, session.id), prefix=Kind.SESSION_EVENT.prefix)
        self._table.delete_all(keys.key_of(item) for item in items if item["n"] <= session.last)
        head, entry = keys.session_head(bank, session.id), keys.registered_session(bank, session.id)
        try:
            self._table.transact([Delete(head, _is_unchanged(session)), Delete(entry)])
        except Conflict as conflict:
            if not conflict.failed(0):
                raise
            # Another deletion of the same session came first.


def _head_put(bank: str, before: Session, after: Session) -> Put:
    return Put(keys.session_head(bank, after.id), head_values(bank, after), _is_unchanged(before))


def _is_unchanged(session: Session) -> Condition:
    """The session was not written since it was read, nor deleted and created again."""
    return equals(ver=session.version, fst=session.first)


def _registration(bank: str, session: Session) -> Put:
    """The deletion of a bank reads the registry; index `list` has its entries by user."""
    values = {
        "ttl": seconds(session.expires),
        "G2PK": keys.user_sessions(bank, ids.digest(session.user_id)),
        "G2SK": milliseconds(session.created),
    }
    return Put(keys.registered_session(bank, session.id), values)


def _cursor(item: Mapping[str, Any]) -> SessionCursor:
    return SessionCursor(item["G2SK"], keys.owner(item["PK"])[1])


def _rank(cursor: SessionCursor) -> int:
    return cursor.rank


# ---- items


def head_values(bank: str, session: Session) -> codec.Values:
    is_listed = session.deleted is None
    return {
        "ver": session.version,
        "at": milliseconds(session.created),
        "upd": milliseconds(session.updated),
        "fst": session.first,
        "lst": session.last,
        "user": session.user_id,
        "name": session.display_name,
        "state": text.compressed(session.state) if session.state else None,
        "lab": text.dumps(session.labels) if session.labels else None,
        "exp": milliseconds(session.expires),
        "ttl": seconds(session.expires),
        "del": milliseconds(session.deleted),
        "G2PK": keys.list_partition(bank, Kind.SESSION, session.id) if is_listed else None,
        "G2SK": milliseconds(session.updated) if is_listed else None,
    }


def session_of(item: Mapping[str, Any]) -> Session:
    return Session(
        id=keys.owner(item["PK"])[1],
        user_id=item["user"],
        created=codec.instant_of(item["at"]),
        updated=codec.instant_of(item["upd"]),
        first=item["fst"],
        last=item["lst"],
        version=item["ver"],
        display_name=item.get("name"),
        state=text.decompressed(item["state"]) if "state" in item else {},
        labels=json.loads(item.get("lab", "{}")),
        expires=instant(item.get("exp")),
        deleted=instant(item.get("del")),
    )


def event_values(event: SessionEvent) -> codec.Values:
    document = {
        "a": event.author,
        "i": event.invocation_id,
        "t": event.timestamp.isoformat(),
        "c": event.content,
        "x": event.actions,
        "m": event.metadata,
        "e": event.error_code,
        "s": event.error_message,
        "r": event.raw,
        "f": policy_codec.findings_rows(event.findings) or None,
    }
    return {"n": event.number, "d": text.compressed({key: one for key, one in document.items() if one is not None})}


def event_of(item: Mapping[str, Any]) -> SessionEvent:
    document = text.decompressed(item["d"])
    return SessionEvent(
        author=document["a"],
        invocation_id=document["i"],
        timestamp=datetime.fromisoformat(document["t"]),
        number=item["n"],
        content=document.get("c"),
        actions=document.get("x"),
        metadata=document.get("m"),
        error_code=document.get("e"),
        error_message=document.get("s"),
        raw=document.get("r"),
        findings=policy_codec.findings_of(document.get("f", [])),
    )
