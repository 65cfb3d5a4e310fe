"""What an export reads: the registry of a bank, entry by entry, and the records of each entry.

Every record comes with the cursor behind it, from which the rest can be read: an export that stopped is resumed there.
Only one record at a time is in memory.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

from streambank.errors import Unavailable
from streambank.model import ids
from streambank.model.memory import Citation, Memory, Revision
from streambank.model.record import (
    BatchRecord,
    ConsentRecord,
    MarkerRecord,
    MemoryRecord,
    Record,
    ReviewedText,
    ReviewRecord,
    SessionEventRecord,
    StreamRecord,
)
from streambank.model.review import ReviewState
from streambank.model.rule import Reason
from streambank.model.stream import Head, StreamId
from streambank.model.transfer import TransferSpec
from streambank.model.window import Window
from streambank.rules import window as windows_rules
from streambank.rules.keyed_hashes import KeyedHashes
from streambank.store import codec, keys, policy_codec
from streambank.store.attributes import instant
from streambank.store.chat_histories import ChatHistories
from streambank.store.citation_items import citation_of
from streambank.store.items_by_memory import ItemsByMemory
from streambank.store.keys import LAST, Kind
from streambank.store.memory_items import all_revisions, memory_of
from streambank.store.review_items import review_of
from streambank.store.reviews import Reviews
from streambank.store.sessions import Sessions
from streambank.store.table import Table

# Of one memory, the newest: a line is in memory whole.
MAX_REVISIONS = 1_000
# Sorts before the ids of memories.
_BEFORE_MEMORIES = " "
# Sorts behind the ids of memories, before `LAST`.
_REVIEWS = "{"

# Shard and sort key of a registry entry, and how far the records of the entry were read.
ExportCursor = tuple[int, str, str]
Rows = Iterator[tuple[str, Record]]


class Exports:
    """The access patterns of an export."""

    def __init__(self, table: Table, id_secret: Callable[[], bytes]) -> None:
        """*id_secret* is what the texts in reviews are hashed with; it is read for the first of them."""
        self._table = table
        self._id_secret = id_secret
        self._reviews = Reviews(table)
        self._sessions = Sessions(table)
        self._histories = ChatHistories(table)

    def records(
        self, bank: str, request: TransferSpec, after: ExportCursor | None, *, now: datetime
    ) -> Iterator[tuple[ExportCursor, Record | None]]:
        """Yield the live records of *request* behind *after*, and None at the end of each entry, even an empty one."""
        for shard, entry in self._entries(bank, request, after):
            start = after[2] if after and after[:2] == (shard, entry) else ""
            if start == LAST:
                continue
            for inner, record in self._rows(bank, entry, start, now):
                yield (shard, entry, inner), record
            yield (shard, entry, LAST), None

    def _entries(self, bank: str, request: TransferSpec, after: ExportCursor | None) -> Iterator[tuple[int, str]]:
        if request.scope is not None:
            entries = ((0, entry) for entry in sorted(self._entries_of_scope(bank, request)))
            yield from (one for one in entries if after is None or one >= after[:2])
            return
        for shard in range(after[0] if after else 0, keys.REGISTRY_SHARDS):
            first = after[1] if after and after[0] == shard else Kind.SCOPE.prefix
            for item in self._table.query(keys.registry(bank, shard), between=(first, LAST)):
                yield shard, item["SK"]

    def _entries_of_scope(self, bank: str, request: TransferSpec) -> Iterator[str]:
        cid = ids.scope_id(request.scope or {})
        yield keys.registered_scope(bank, cid).sk
        streams = keys.registered_stream(bank, cid, "")
        yield from (item["SK"] for item in self._table.query(streams.pk, prefix=streams.sk))
        if request.user_id is not None:
            for session in self._sessions.of_user(bank, request.user_id):
                yield keys.registered_session(bank, session.session_id).sk
        yield from {keys.registered_chat(bank, ids.digest(name)).sk for name in request.conversation_ids}

    def _rows(self, bank: str, entry: str, after: str, now: datetime) -> Rows:
        kind, name, cid = keys.registry_entry(entry)
        version = (self._table.get(keys.version(bank, cid)) or {}) if cid else {}
        if "moving" in version:
            raise Unavailable("a scope is being moved; the export goes on afterwards")
        if version.get("erasing"):
            return iter(())  # a scope that is being erased is not exported
        match kind:
            case Kind.SCOPE:
                return self._memories(bank, name, after, now)
            case Kind.STREAM:
                return self._stream(bank, name, after, now)
            case Kind.SESSION:
                return self._session(bank, name, after, now)
            case _:
                return self._conversation(bank, name, now)

    # ---- memories

    def _memories(self, bank: str, cid: str, after: str, now: datetime) -> Rows:
        """Yield a scope's consent, and its memories from three queries at once, all in the order of memory ids."""
        version = self._table.get(keys.version(bank, cid))
        if version is None:
            return
        scope = json.loads(version["sco"])
        if "lrn" in version and not after:
            yield _BEFORE_MEMORIES, ConsentRecord(scope, codec.consent_of(version))
        revisions = ItemsByMemory(self._of_kind(bank, cid, Kind.REVISION, after), MAX_REVISIONS)
        citations = ItemsByMemory(self._of_kind(bank, cid, Kind.CITATION, after), MAX_REVISIONS)
        for item in self._of_kind(bank, cid, Kind.MEMORY, after):
            memory = memory_of(item, dict(scope))
            if memory.id != after and memory.is_live(now):
                stored = self._revisions(bank, cid, memory, revisions)
                own = [one for one in stored if _is_exported(memory, one, now)][-MAX_REVISIONS:]
                cited = [one for one in map(citation_of, citations.of(memory.id)) if _is_cited(memory, one, now)]
                yield memory.id, MemoryRecord(replace(memory, own_revision=None), tuple(own), tuple(cited))
        known = after.removeprefix(_REVIEWS) if after.startswith(_REVIEWS) else ""
        yield from self._open_reviews(bank, cid, scope, known, now)

    def _open_reviews(self, bank: str, cid: str, scope: dict[str, str], after: str, now: datetime) -> Rows:
        """Yield the open reviews behind *after*, but those that cannot be accepted: a memory is gone or has changed."""
        for item in self._of_kind(bank, cid, Kind.REVIEW, after):
            review = review_of(item, dict(scope))
            if review.id <= after or review.state is not ReviewState.OPEN or not review.is_live(now):
                continue
            [whole] = self._reviews.with_memories(bank, [review], now=now)
            by_id, hashes = {one.id: one for one in whole.memories}, KeyedHashes(self._id_secret(), bank, cid)
            pairs = [(by_id.get(one.id), one.mark) for one in review.memories]
            texts = [
                ReviewedText(memory.id, memory.created, memory.fact)
                for memory, mark in pairs
                if memory and hashes.of_text(memory.fact) == mark
            ]
            if len(texts) == len(pairs):
                yield f"{_REVIEWS}{review.id}", ReviewRecord(review, tuple(texts))

    def _revisions(self, bank: str, cid: str, memory: Memory, read: ItemsByMemory) -> list[Revision]:
        """Return the revisions of *memory*; they are read again if they were read before its last change."""
        revisions = all_revisions(memory, read.of(memory.id))
        own = memory.own_revision.number if memory.own_revision else 0
        newest = memory.revision - (own == memory.revision)  # of those that have items
        if newest and newest not in (one.number for one in revisions):
            prefix = keys.revision_prefix(memory.id)
            revisions = all_revisions(memory, self._table.query(keys.scope(bank, cid), prefix=prefix))
        return revisions

    def _of_kind(self, bank: str, cid: str, kind: Kind, after: str) -> Iterator[dict[str, Any]]:
        return self._table.query(keys.scope(bank, cid), between=(kind.prefix + after, kind.prefix + LAST))

    # ---- sessions and chats

    def _session(self, bank: str, session_id: str, after: str, now: datetime) -> Rows:
        session = self._sessions.live(bank, session_id, now=now)
        if session is None:
            return
        if not after:
            yield "0", session
        start = max(int(after or "0"), session.first)
        for event in self._sessions.events(bank, session, after=start):
            yield str(event.number), SessionEventRecord(session_id, session.first, event)

    def _conversation(self, bank: str, name: str, now: datetime) -> Rows:
        for _ in self._table.retry_policy.attempts():
            conversation_id = self._histories.id_of(bank, name)
            pointer = self._histories.find(bank, conversation_id) if conversation_id is not None else None
            if pointer is None or not pointer.is_live(now):
                return
            history = self._histories.read(bank, pointer)
            if history:  # else it was replaced meanwhile
                yield LAST, history
                return

    # ---- streams

    def _stream(self, bank: str, sid: str, after: str, now: datetime) -> Rows:
        """Yield the stream itself, then its events, markers and windows; a direct generation is not exported."""
        item = self._table.get(keys.head(bank, sid))
        if item is None:
            return
        head, first = codec.head_of(item), Kind.BATCH.prefix
        if not after:
            yield first, _stream_record(head)
            if head.count:
                yield first, _open_window(head, now)
        for row in self._table.query(keys.stream(bank, sid), between=(after or first, Kind.WINDOW.prefix + LAST)):
            record = _record_of(row, head.stream, now) if row["SK"] != after else None
            if record:
                yield row["SK"], record


def _is_exported(memory: Memory, revision: Revision, now: datetime) -> bool:
    """Tell whether a revision is of *memory* as it was read: not newer, and not of an earlier memory with its id."""
    return revision.is_live(now) and revision.number <= memory.revision and revision.created >= memory.created


def _is_cited(memory: Memory, citation: Citation, now: datetime) -> bool:
    windows = {(one.sid, one.window) for one in memory.evidence}
    return citation.is_live(now) and (citation.sid, citation.window) in windows


def _stream_record(head: Head) -> StreamRecord:
    newest = head.window if head.count else head.window - 1
    return StreamRecord(head.stream, head.seq, newest, head.rule, head.anchor, head.last_arrival)


def _open_window(head: Head, now: datetime) -> Window:
    """Return the open window as if it were sealed now: an import stores it as a window that has ended."""
    return windows_rules.seal(head, head.seal_reason or Reason.FORCE_FLUSH, None, now=now)[1]


def _record_of(item: dict[str, Any], stream: StreamId, now: datetime) -> Record | None:
    expires = instant(item["ttl"] * 1000) if "ttl" in item else None
    if expires is not None and expires <= now:
        return None
    match keys.kind_of(item["SK"]):
        case Kind.BATCH:
            events = codec.batch_events(item)
            return BatchRecord(
                stream, item["seq"], item["win"], events[0].arrived, tuple(one.event for one in events), expires
            )
        case Kind.MARKER:
            key, fingerprint = keys.name_in(item["SK"]), bytes(item.get("h", b""))
            findings = policy_codec.findings_of(json.loads(item.get("pol", "[]")))
            return MarkerRecord(stream, key, item["seq"], item["win"], expires or now, fingerprint, findings)
        case Kind.WINDOW:
            return codec.window_of(item)
    return None
