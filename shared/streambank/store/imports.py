"""What an import writes: each time in one transaction with the condition that no erasure has started since.

The bank's erasure item tells of an erasure of the whole bank, the scope's version item of one of the scope. Both stay
after the erasure: an import that started before it brings nothing of it back, however late its writes are.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from streambank.model import ids
from streambank.model.change_record import ChangeStamp
from streambank.model.chat import ChatHistory
from streambank.model.memory import Memory
from streambank.model.record import BatchRecord, MarkerRecord, MemoryRecord, SessionEventRecord, StreamRecord
from streambank.model.review import Review
from streambank.model.session import Session
from streambank.model.stream import Head, StreamId
from streambank.model.transfer import Transfer
from streambank.model.window import Window, WindowState
from streambank.store import codec, keys, policy_codec
from streambank.store.actions import Action, Condition, ConditionCheck, Put, absent, equals, without
from streambank.store.attributes import milliseconds, seconds
from streambank.store.changes import default_stamp, record_puts
from streambank.store.chat_histories import ChatHistories
from streambank.store.import_units import import_units, packed_units
from streambank.store.memory_items import memory_of
from streambank.store.review_items import review_put
from streambank.store.scope_versions import version_bump
from streambank.store.sessions import Sessions, event_values
from streambank.store.streams import RetentionPolicy
from streambank.store.table import Table


@dataclass(frozen=True, slots=True)
class ScopeState:
    """The version and the erasures of a scope that an import writes to.

    *is_erased* tells that an erasure of the scope started after the import did, *is_bank_erased* the same of the bank.
    """

    version: int
    erasure_number: int
    is_erasing: bool
    is_erased: bool
    is_bank_erased: bool


@dataclass(frozen=True, slots=True)
class IdOwner:
    """The memory that has an id in one scope, if any, and whether the id belongs to another scope."""

    memory: Memory | None
    is_of_other_scope: bool

    def is_other_than(self, memory: Memory) -> bool:
        """Tell whether the id is another memory's than *memory*: of another scope, or made at another time."""
        return self.is_of_other_scope or (self.memory is not None and self.memory.created != memory.created)


class Imports:
    """The access patterns of an import."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._sessions = Sessions(table)
        self._histories = ChatHistories(table)

    # ---- reading

    def scope_state(self, job: Transfer, scope: Mapping[str, str]) -> ScopeState:
        """Return the state of a scope; read it before anything in the scope."""
        key, bank_key = keys.version(job.bank, ids.scope_id(scope)), keys.bank_erasure(job.bank)
        items = self._table.read([key, bank_key])
        item = items.get(key, {})
        erasure_start = item.get("ebeg")
        return ScopeState(
            item.get("ver", 0),
            item.get("era", 0),
            "erasing" in item or "moving" in item,
            erasure_start is not None and erasure_start >= (milliseconds(job.started) or 0),
            items.get(bank_key, {}).get("era", 0) != job.erasure_number,
        )

    def is_bank_erased(self, job: Transfer) -> bool:
        """Tell whether an erasure of the bank has started since the import did."""
        item = self._table.get(keys.bank_erasure(job.bank)) or {"era": 0}
        return bool(item["era"] != job.erasure_number)

    def id_owners(
        self, bank: str, scope: Mapping[str, str], memory_ids: Sequence[str], *, now: datetime
    ) -> list[IdOwner]:
        """Return the owner of each id. Cost: two items an id, a hundred a round trip."""
        cid, spelled = ids.scope_id(scope), ids.canonical(scope)
        pairs = [(keys.memory(bank, cid, name), keys.memory_name(bank, name)) for name in memory_ids]
        items = self._table.read(key for pair in pairs for key in pair)
        return [
            IdOwner(
                memory_of(items[memory], dict(scope)) if memory in items else None,
                name in items and _is_live(items[name], now) and _canonical(items[name]["sco"]) != spelled,
            )
            for memory, name in pairs
        ]

    # ---- memories

    def write_memories(
        self,
        job: Transfer,
        state: ScopeState,
        changes: Sequence[tuple[Memory | None, MemoryRecord]],
        *,
        now: datetime,
        stamp: ChangeStamp | None = None,
    ) -> None:
        """Write memories of one scope with their revisions and citations, each whole before the next begins.

        Their records in the change feed have *stamp*.

        A memory is written after the last of its revisions: whoever reads it can read them all. *changes* are pairs of
        the memory that is there, and the record to write. Raises Conflict: the scope was written meanwhile; what was
        written until then stays.
        """
        version = state.version
        units = (unit for before, record in changes for unit in import_units(job.bank, before, record, now))
        for some in packed_units(units):
            scope = changes[0][1].memory.scope
            bump = version_bump(job.bank, scope, version, 1)
            whole = [unit.change for unit in some if unit.change]
            record = record_puts(job.bank, scope, version + 1, whole, stamp or default_stamp(now))
            self._table.transact([*bump, _bank_guard(job), *(one for unit in some for one in unit.actions), *record])
            version += 1

    def write_reviews(self, job: Transfer, state: ScopeState, reviews: Sequence[Review]) -> None:
        """Write open reviews of one scope. Raises Conflict: the scope was written meanwhile, or the bank was erased."""
        bump = version_bump(job.bank, reviews[0].scope, state.version, 1)
        self._table.transact([*bump, _bank_guard(job), *(review_put(job.bank, one) for one in reviews)])

    # ---- sessions and chats

    def write_session(self, job: Transfer, session: Session) -> None:
        """Store a session without its events. Raises Conflict if the id is taken, or the bank was erased."""
        self._sessions.create(job.bank, session, guards=[_bank_guard(job)])

    def write_session_events(self, job: Transfer, session: Session, records: Sequence[SessionEventRecord]) -> None:
        """Write events of a session, over the same ones if they are there. Raises Conflict if the session changed."""
        ttl = seconds(session.expires)
        head = keys.session_head(job.bank, session.id)
        guards: list[Action] = [ConditionCheck(head, equals(ver=session.version, fst=session.first)), _bank_guard(job)]
        puts = [
            Put(keys.session_event(job.bank, session.id, one.event.number), {**event_values(one.event), "ttl": ttl})
            for one in records
        ]
        self._table.transact([*guards, *puts])

    def write_conversation(self, job: Transfer, history: ChatHistory, *, now: datetime) -> bool:
        """Store a conversation unless there is one as new; tell whether it was stored. Raises Conflict."""
        before = self._histories.find(job.bank, history.conversation_id)
        if before and before.is_live(now) and before.updated >= history.updated:
            return False
        after = self._histories.prepare(job.bank, history, now=now)
        self._histories.replace(job.bank, before, after, guards=[_bank_guard(job)], now=now)
        return True

    # ---- streams

    def begin_stream(self, job: Transfer, state: ScopeState, record: StreamRecord) -> None:
        """Store the head of an imported stream, and record which import it is from.

        Raises:
            Conflict: the stream exists, or an erasure has started.
        """
        stream = record.stream
        head = Head(
            stream,
            version=1,
            seq=record.seq,
            window=record.window + 1,
            start=record.seq + 1,
            rule=record.rule,
            anchor=record.anchor,
        )
        entry = keys.registered_stream(stream.bank, ids.scope_id(stream.scope), stream.sid)
        source: codec.Values = {"src": job.request.source, "seq": record.seq, "win": record.window}
        self._table.transact(
            [
                Put(keys.head(stream.bank, stream.sid), codec.head_values(head), absent()),
                *_guards(job, state, stream.scope),
                Put(entry, {"sid": stream.sid}),
                Put(keys.stream_import(stream.bank, stream.sid), source),
            ]
        )

    def has_stream(self, stream: StreamId) -> bool:
        """Tell whether a stream exists."""
        return self._table.get(keys.head(stream.bank, stream.sid)) is not None

    def end_of_stream(self, job: Transfer, stream: StreamId) -> tuple[int, int] | None:
        """Return the last window and event that an import brings to a stream; None if the stream is from another."""
        item = self._table.get(keys.stream_import(stream.bank, stream.sid))
        return (item["win"], item["seq"]) if item and item["src"] == job.request.source else None

    def write_stream_records(
        self,
        job: Transfer,
        state: ScopeState,
        records: Sequence[BatchRecord | MarkerRecord | Window],
        retention_policy: RetentionPolicy,
        *,
        now: datetime,
    ) -> None:
        """Write those of *records*, all of one stream, that are not stored yet. Raises Conflict."""
        puts = {put.key: put for put in (_stream_record_put(record, retention_policy, now) for record in records)}
        present = self._table.read(puts)
        missing = [put for key, put in puts.items() if key not in present]
        if missing:
            self._table.transact([*missing, *_guards(job, state, records[0].stream.scope)])


def _stream_record_put(
    record: BatchRecord | MarkerRecord | Window, retention_policy: RetentionPolicy, now: datetime
) -> Put:
    bank, sid = record.stream.bank, record.stream.sid
    if isinstance(record, BatchRecord):
        return Put(keys.batch(bank, sid, record.first), _batch_values(record), absent())
    if isinstance(record, MarkerRecord):
        values = {"seq": record.seq, "win": record.window, "h": record.fingerprint or None}
        findings = policy_codec.findings_text(record.findings)
        more: codec.Values = {"pol": findings, "ttl": seconds(record.expires)}
        return Put(keys.marker(bank, sid, record.key), {**values, **more}, absent())
    return Put(keys.window(bank, sid, record.number), _window_values(record, retention_policy, now), absent())


def _batch_values(batch: BatchRecord) -> codec.Values:
    return {
        **codec.event_values(batch.events),
        "n": len(batch.events),
        "seq": batch.first,
        "win": batch.window,
        "at": milliseconds(batch.arrived),
        "ttl": seconds(batch.expires),
    }


def _window_values(window: Window, retention_policy: RetentionPolicy, now: datetime) -> codec.Values:
    """Store an imported window as ended, whatever its state was: its events are not generated again."""
    state = WindowState.ERASED if window.state is WindowState.ERASED else WindowState.DONE
    expires = retention_policy.of_operation(window, now=now)
    values = codec.window_values(replace(window, state=state, due=None))
    return {**values, "new": None, "end": milliseconds(now), "ttl": seconds(expires)}


def _bank_guard(job: Transfer) -> ConditionCheck:
    return ConditionCheck(keys.bank_erasure(job.bank), _erasure_is(job.erasure_number))


def _guards(job: Transfer, state: ScopeState, scope: Mapping[str, str]) -> Iterable[ConditionCheck]:
    key = keys.version(job.bank, ids.scope_id(scope))
    return _bank_guard(job), ConditionCheck(key, _erasure_is(state.erasure_number) & without("moving"))


def _erasure_is(number: int) -> Condition:
    """The newest erasure is number *number*; 0 stands for none."""
    return equals(era=number) if number else without("era")


def _is_live(name: Mapping[str, Any], now: datetime) -> bool:
    return "ttl" not in name or name["ttl"] > (seconds(now) or 0)


def _canonical(spelled: str) -> str:
    return ids.canonical(json.loads(spelled))
