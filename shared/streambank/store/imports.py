"""What an import writes: whatever it is, in one transaction with the condition that no erasure began since.

An erasure of the whole bank shows in the bank's item, one of a scope in the scope's version. Both outlive the erasure:
an import that began before it brings nothing of it back, however late its writes are.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from streambank.model import ids
from streambank.model.chat import ChatHistory
from streambank.model.memory import Change, Memory
from streambank.model.session import Session
from streambank.model.stream import Head, StreamId
from streambank.model.transfer import BatchRecord, MarkerRecord, MemoryRecord, StreamRecord, TalkRecord, Transfer
from streambank.model.window import Window, WindowState
from streambank.store import codec, keys, text
from streambank.store.actions import Action, Condition, ConditionCheck, Put, absent, equals
from streambank.store.attributes import milliseconds, seconds
from streambank.store.chat_histories import ChatHistories
from streambank.store.memories import version_bump
from streambank.store.memory_items import change_actions, citation_values, memory_of, revision_values
from streambank.store.sessions import Sessions, event_values
from streambank.store.streams import RetentionPolicy
from streambank.store.table import Table

# TransactWriteItems takes 100 actions; the scope's version, its registry entry and the bank's check are among them.
_MOST_ACTIONS = 90
_MOST_BYTES = 3_500_000
_NO_ERA = Condition(("attribute_not_exists(#era)",), frozenset({"era"}))


@dataclass(frozen=True, slots=True)
class ScopeState:
    """Where an import writes: the scope's version, and whether an erasure is, or came, in its way."""

    version: int
    era: int
    is_erasing: bool
    is_erased: bool
    is_bank_erased: bool


@dataclass(frozen=True, slots=True)
class IdOwner:
    """The memory that has an id in the scope in question, and whether the id is another scope's."""

    memory: Memory | None
    is_elsewhere: bool


class Imports:
    """The access patterns of an import."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._sessions = Sessions(table)
        self._histories = ChatHistories(table)

    # ---- what is there

    def ground(self, job: Transfer, scope: Mapping[str, str]) -> ScopeState:
        """Return what a scope is like now; it is read before anything that is in it."""
        key, bank_key = keys.version(job.bank, ids.scope_id(scope)), keys.bank_erasure(job.bank)
        found = self._table.read([key, bank_key])
        item = found.get(key, {})
        began = item.get("ebeg")
        return ScopeState(
            item.get("ver", 0),
            item.get("era", 0),
            "erasing" in item,
            began is not None and began >= (milliseconds(job.started) or 0),
            found.get(bank_key, {}).get("era", 0) != job.era,
        )

    def is_bank_erased(self, job: Transfer) -> bool:
        """Tell whether the bank is, or was, erased since the import began."""
        item = self._table.get(keys.bank_erasure(job.bank)) or {"era": 0}
        return bool(item["era"] != job.era)

    def taken(self, bank: str, scope: Mapping[str, str], memory_ids: Sequence[str], *, now: datetime) -> list[IdOwner]:
        """Return who has these ids: two items each, a hundred a round trip."""
        cid, spelled = ids.scope_id(scope), ids.canonical(scope)
        wanted = [(keys.memory(bank, cid, name), keys.memory_name(bank, name)) for name in memory_ids]
        found = self._table.read(key for pair in wanted for key in pair)
        return [
            IdOwner(
                memory_of(found[memory], dict(scope)) if memory in found else None,
                name in found and _is_held(found[name], now) and _canonical(found[name]["sco"]) != spelled,
            )
            for memory, name in wanted
        ]

    # ---- memories

    def write_memories(
        self, job: Transfer, ground: ScopeState, changes: Sequence[tuple[Memory | None, MemoryRecord]], *, now: datetime
    ) -> None:
        """Write memories of one scope with what hangs on them, each whole before the next begins.

        A memory comes after the last of its revisions: who finds it finds them all. *changes* are what is there before,
        and what is to be there. Raises Conflict: the scope was changed; what was written until then stands.
        """
        version = ground.version
        units = (unit for before, record in changes for unit in _units(job.bank, before, record, now))
        for actions in _packed(units):
            bump = version_bump(job.bank, changes[0][1].memory.scope, version, 1)
            self._table.transact([*bump, _bank_guard(job), *actions])
            version += 1

    # ---- sessions and chats

    def write_session(self, job: Transfer, session: Session) -> None:
        """Store a session, whose events follow. Raises Conflict if the id is taken, or the bank was erased."""
        self._sessions.create(job.bank, session, under=[_bank_guard(job)])

    def write_talk(self, job: Transfer, session: Session, records: Sequence[TalkRecord]) -> None:
        """Write events of a session, again if need be: they never change. Raises Conflict if the session did."""
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
        self._histories.turn(job.bank, before, after, under=[_bank_guard(job)], now=now)
        return True

    # ---- streams

    def begin_stream(self, job: Transfer, ground: ScopeState, record: StreamRecord) -> None:
        """Make a stream that goes on after what is imported, and note where it came from.

        Raises:
            Conflict: there is such a stream, or an erasure began.
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
        note: codec.Values = {"src": job.wanted.source, "seq": record.seq, "win": record.window}
        self._table.transact(
            [
                Put(keys.head(stream.bank, stream.sid), codec.head_values(head), absent()),
                *_guards(job, ground, stream.scope),
                Put(entry, {"sid": stream.sid}),
                Put(keys.imported(stream.bank, stream.sid), note),
            ]
        )

    def has_stream(self, stream: StreamId) -> bool:
        """Tell whether there is such a stream."""
        return self._table.get(keys.head(stream.bank, stream.sid)) is not None

    def reach(self, job: Transfer, stream: StreamId) -> tuple[int, int] | None:
        """Return the last window and event that this source brings to a stream; None if the stream is not from it."""
        item = self._table.get(keys.imported(stream.bank, stream.sid))
        return (item["win"], item["seq"]) if item and item["src"] == job.wanted.source else None

    def write_said(
        self,
        job: Transfer,
        ground: ScopeState,
        records: Sequence[BatchRecord | MarkerRecord | Window],
        retention_policy: RetentionPolicy,
        *,
        now: datetime,
    ) -> None:
        """Write those of *records*, all of one stream, that are not there. Raises Conflict."""
        puts = {put.key: put for put in (_said_put(record, retention_policy, now) for record in records)}
        present = self._table.read(puts)
        missing = [put for key, put in puts.items() if key not in present]
        if missing:
            self._table.transact([*missing, *_guards(job, ground, records[0].stream.scope)])


def _units(bank: str, before: Memory | None, record: MemoryRecord, now: datetime) -> Iterator[list[Action]]:
    """Yield what is written together: each revision, each citation, and last the memory with its name."""
    cid, memory_id = ids.scope_id(record.memory.scope), record.memory.id
    revisions = {keys.revision(bank, cid, memory_id, one.number): revision_values(one) for one in record.revisions}
    citations = {
        keys.citation(bank, cid, memory_id, one.sid, one.window, one.number): citation_values(one)
        for one in record.citations
    }
    for key, values in (revisions | citations).items():
        yield [Put(key, values)]
    yield change_actions(bank, Change(before, record.memory, None), now)


def _packed(units: Iterable[list[Action]]) -> Iterator[list[Action]]:
    """Yield *units* in order, as many together as a transaction takes."""
    together, size = list[Action](), 0
    for unit in units:
        weight = sum(_weight(action) for action in unit)
        if together and (len(together) + len(unit) > _MOST_ACTIONS or size + weight > _MOST_BYTES):
            yield together
            together, size = [], 0
        together, size = [*together, *unit], size + weight
    if together:
        yield together


def _weight(action: Action) -> int:
    """Return about how many bytes an action writes; a letter has up to four."""
    values = action.values.values() if isinstance(action, Put) else ()
    return sum(len(value) if isinstance(value, bytes) else 4 * len(str(value)) for value in values)


def _said_put(record: BatchRecord | MarkerRecord | Window, retention_policy: RetentionPolicy, now: datetime) -> Put:
    bank, sid = record.stream.bank, record.stream.sid
    if isinstance(record, BatchRecord):
        return Put(keys.batch(bank, sid, record.first), _batch_values(record), absent())
    if isinstance(record, MarkerRecord):
        values = {"seq": record.seq, "win": record.window, "h": record.fingerprint or None}
        return Put(keys.marker(bank, sid, record.key), {**values, "ttl": seconds(record.expires)}, absent())
    return Put(keys.window(bank, sid, record.number), _window_values(record, retention_policy, now), absent())


def _batch_values(batch: BatchRecord) -> codec.Values:
    return {
        "d": text.compressed([codec.event_text(event) for event in batch.events]),
        "n": len(batch.events),
        "seq": batch.first,
        "win": batch.window,
        "at": milliseconds(batch.arrived),
        "ttl": seconds(batch.expires),
    }


def _window_values(window: Window, retention_policy: RetentionPolicy, now: datetime) -> codec.Values:
    """An imported window has ended, whatever it was waiting for: its events are generated no second time."""
    state = WindowState.ERASED if window.state is WindowState.ERASED else WindowState.DONE
    expires = retention_policy.of_operation(window, now=now)
    values = codec.window_values(replace(window, state=state, due=None))
    return {**values, "new": None, "end": milliseconds(now), "ttl": seconds(expires)}


def _bank_guard(job: Transfer) -> ConditionCheck:
    return ConditionCheck(keys.bank_erasure(job.bank), equals(era=job.era) if job.era else _NO_ERA)


def _guards(job: Transfer, ground: ScopeState, scope: Mapping[str, str]) -> Iterable[ConditionCheck]:
    key = keys.version(job.bank, ids.scope_id(scope))
    return _bank_guard(job), ConditionCheck(key, equals(era=ground.era) if ground.era else _NO_ERA)


def _is_held(name: Mapping[str, Any], now: datetime) -> bool:
    return "ttl" not in name or name["ttl"] > (seconds(now) or 0)


def _canonical(spelled: str) -> str:
    return ids.canonical(json.loads(spelled))
