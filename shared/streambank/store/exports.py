"""What an export reads: the registry of a bank, entry by entry, and what each entry stands for, record by record.

Every record comes with the place that it ends at; from any place the rest can be read, so that an export that stopped
goes on there. Nothing is held in memory but one record.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import groupby
from typing import Any

from streambank.model import ids
from streambank.model.memory import Citation, Memory, Revision
from streambank.model.rule import Reason
from streambank.model.stream import Head, StreamId
from streambank.model.transfer import (
    BatchRecord,
    MarkerRecord,
    MemoryRecord,
    Record,
    StreamRecord,
    TalkRecord,
    TransferSpec,
)
from streambank.model.window import Window
from streambank.rules import window as windows_rules
from streambank.store import codec, keys
from streambank.store.attributes import instant
from streambank.store.chat_histories import ChatHistories
from streambank.store.memory_items import citation_of, memory_of, revision_of
from streambank.store.sessions import Sessions
from streambank.store.table import Table

# Of one memory, the newest: a line is held in memory whole.
MOST_REVISIONS = 1_000
# Behind all sort keys of a kind, which are ASCII.
_LAST = "~"

# Shard and sort key of a registry entry, and how far what it stands for was read.
ExportCursor = tuple[int, str, str]
Rows = Iterator[tuple[str, Record]]


class Exports:
    """The access patterns of an export."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._sessions = Sessions(table)
        self._histories = ChatHistories(table)

    def records(
        self, bank: str, wanted: TransferSpec, after: ExportCursor | None, *, now: datetime
    ) -> Iterator[tuple[ExportCursor, Record | None]]:
        """Yield what is live of *wanted* from *after* on; None at the end of each entry, whether it held anything."""
        for shard, entry in self._entries(bank, wanted, after):
            begun = after[2] if after and after[:2] == (shard, entry) else ""
            if begun == _LAST:
                continue
            for inner, record in self._rows(bank, entry, begun, now):
                yield (shard, entry, inner), record
            yield (shard, entry, _LAST), None

    def _entries(self, bank: str, wanted: TransferSpec, after: ExportCursor | None) -> Iterator[tuple[int, str]]:
        if wanted.scope is not None:
            entries = ((0, entry) for entry in sorted(self._of_scope(bank, wanted)))
            yield from (one for one in entries if after is None or one >= after[:2])
            return
        for shard in range(after[0] if after else 0, keys.REGISTRY_SHARDS):
            first = after[1] if after and after[0] == shard else "C#"
            for item in self._table.query(keys.registry(bank, shard), between=(first, _LAST)):
                yield shard, item["SK"]

    def _of_scope(self, bank: str, wanted: TransferSpec) -> Iterator[str]:
        cid = ids.scope_id(wanted.scope or {})
        yield f"C#{cid}"
        streams = keys.registered_stream(bank, cid, "")
        yield from (item["SK"] for item in self._table.query(streams.pk, prefix=streams.sk))
        if wanted.user_id is not None:
            yield from (f"X#{place.session_id}" for place in self._sessions.of_user(bank, wanted.user_id))
        yield from {f"H#{ids.digest(conversation_id)}" for conversation_id in wanted.conversation_ids}

    def _rows(self, bank: str, entry: str, after: str, now: datetime) -> Rows:
        kind, *names = entry.split("#")
        if kind in ("C", "S") and (self._table.get(keys.version(bank, names[0])) or {}).get("erasing"):
            return iter(())  # what is being erased is gone
        match kind:
            case "C":
                return self._memories(bank, names[0], after, now)
            case "S":
                return self._stream(bank, names[1], after, now)
            case "X":
                return self._session(bank, names[0], after, now)
            case _:
                return self._conversation(bank, names[0], now)

    # ---- memories

    def _memories(self, bank: str, cid: str, after: str, now: datetime) -> Rows:
        """Three queries side by side: memories, revisions and citations are each in the order of memory ids."""
        version = self._table.get(keys.version(bank, cid))
        if version is None:
            return
        scope = json.loads(version["sco"])
        revisions = _Beside(self._kind(bank, cid, "R", after))
        citations = _Beside(self._kind(bank, cid, "T", after))
        for item in self._kind(bank, cid, "M", after):
            memory = memory_of(item, dict(scope))
            if memory.id != after and memory.is_live(now):
                told = [one for one in map(revision_of, revisions.of(memory.id)) if _is_told(memory, one, now)]
                said = [one for one in map(citation_of, citations.of(memory.id)) if _is_cited(memory, one, now)]
                yield memory.id, MemoryRecord(memory, tuple(told), tuple(said))

    def _kind(self, bank: str, cid: str, kind: str, after: str) -> Iterator[dict[str, Any]]:
        ends = (f"{kind}#{after}", f"{kind}#{_LAST}")
        return self._table.query(keys.scope(bank, cid), between=ends)

    # ---- sessions and chats

    def _session(self, bank: str, session_id: str, after: str, now: datetime) -> Rows:
        session = self._sessions.live(bank, session_id, now=now)
        if session is None:
            return
        if not after:
            yield "0", session
        begun = max(int(after or "0"), session.first)
        for event in self._sessions.events(bank, session, after=begun):
            yield str(event.number), TalkRecord(session_id, session.first, event)

    def _conversation(self, bank: str, name: str, now: datetime) -> Rows:
        for _ in self._table.retry_policy.attempts():
            conversation_id = self._histories.id_of(bank, name)
            pointer = self._histories.find(bank, conversation_id) if conversation_id is not None else None
            if pointer is None or not pointer.is_live(now):
                return
            history = self._histories.read(bank, pointer)
            if history:  # else it was replaced meanwhile
                yield _LAST, history
                return

    # ---- streams

    def _stream(self, bank: str, sid: str, after: str, now: datetime) -> Rows:
        """Yield the stream itself, then its events, markers and windows; what has no head was generated directly."""
        item = self._table.get(keys.head(bank, sid))
        if item is None:
            return
        head = codec.head_of(item)
        if not after:
            yield "B#", _stream_record(head)
            if head.count:
                yield "B#", _open_window(head, now)
        ends = (after or "B#", "W#" + _LAST)
        for found in self._table.query(keys.stream(bank, sid), between=ends):
            record = _stream_row(found, head.stream, now) if found["SK"] != after else None
            if record:
                yield found["SK"], record


class _Beside:
    """Items in the order of the memories that they are of, taken memory by memory."""

    def __init__(self, items: Iterable[dict[str, Any]]) -> None:
        self._groups = groupby(items, key=lambda item: item["SK"].split("#")[1])
        self._held: tuple[str, Iterable[dict[str, Any]]] | None = next(self._groups, None)

    def of(self, memory_id: str) -> Iterable[dict[str, Any]]:
        """Return the last thousand items of a memory; those of memories before it are left behind."""
        while self._held and self._held[0] < memory_id:
            self._held = next(self._groups, None)
        if self._held is None or self._held[0] != memory_id:
            return ()
        found = deque(self._held[1], maxlen=MOST_REVISIONS)
        self._held = next(self._groups, None)
        return found


def _is_told(memory: Memory, revision: Revision, now: datetime) -> bool:
    """Later ones than the memory's were made after it was read; earlier ones may be of another that had its id."""
    return revision.is_live(now) and revision.number <= memory.revision and revision.created >= memory.created


def _is_cited(memory: Memory, citation: Citation, now: datetime) -> bool:
    windows = {(found.sid, found.window) for found in memory.evidence}
    return citation.is_live(now) and (citation.sid, citation.window) in windows


def _stream_record(head: Head) -> StreamRecord:
    newest = head.window if head.count else head.window - 1
    return StreamRecord(head.stream, head.seq, newest, head.rule, head.anchor, head.last_arrival)


def _open_window(head: Head, now: datetime) -> Window:
    """Return the open window as if it were sealed now: to whoever imports it, it has been."""
    return windows_rules.seal(head, head.ripe or Reason.FORCE_FLUSH, None, now=now)[1]


def _stream_row(item: dict[str, Any], stream: StreamId, now: datetime) -> Record | None:
    expires = instant(item["ttl"] * 1000) if "ttl" in item else None
    if expires is not None and expires <= now:
        return None
    match item["SK"][:2]:
        case "B#":
            events = codec.batch_events(item)
            return BatchRecord(
                stream, item["seq"], item["win"], events[0].arrived, tuple(one.event for one in events), expires
            )
        case "D#":
            marked = expires or now
            return MarkerRecord(stream, item["SK"][2:], item["seq"], item["win"], marked, bytes(item.get("h", b"")))
        case "W#":
            return codec.window_of(item)
    return None
