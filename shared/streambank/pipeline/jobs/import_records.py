"""What an import writes, record by record: whatever is there already, as new or newer, stays."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import cast

from streambank.errors import Conflict, Unavailable
from streambank.llm.ports import Embedder
from streambank.model.chat import ChatHistory
from streambank.model.memory import Memory
from streambank.model.session import Session
from streambank.model.transfer import (
    BatchRecord,
    MarkerRecord,
    MemoryRecord,
    Record,
    StreamRecord,
    TalkRecord,
    Transfer,
)
from streambank.model.window import Window
from streambank.retry import RetryPolicy
from streambank.rules.bank_config import bank_config
from streambank.rules.import_outcome import ImportOutcome, decide_import
from streambank.store.banks import Banks
from streambank.store.imports import Imports, ScopeState
from streambank.store.objects import Objects
from streambank.store.sessions import Sessions
from streambank.store.streams import RetentionPolicy
from streambank.store.transfers import Transfers
from streambank.wire import record as record_wire

_TOO_FAST = "what is imported is written too often at once; try again"
StreamEventRecord = BatchRecord | MarkerRecord | Window


class BankErasedError(Exception):
    """The bank was erased since the import began, which brings nothing of it back."""


@dataclass(frozen=True, slots=True)
class ImportContext:
    """What an import needs; it stops between two batches when *has_time* says no."""

    transfers: Transfers
    imports: Imports
    objects: Objects
    banks: Banks
    sessions: Sessions
    embedder: Embedder
    retention_policy: RetentionPolicy
    retry_policy: RetryPolicy
    clock: Callable[[], datetime]
    has_time: Callable[[], bool]


def import_records(job: Transfer, records: Sequence[Record], context: ImportContext) -> Counter[str]:
    """Write the records of one batch, and return what became of them."""
    for _ in context.retry_policy.attempts():
        if context.imports.is_bank_erased(job):
            raise BankErasedError
        try:
            return _taken(job, records, context)
        except Conflict:
            continue
    raise Unavailable(_TOO_FAST)


def _taken(job: Transfer, records: Sequence[Record], context: ImportContext) -> Counter[str]:
    first = records[0]
    match first:
        case MemoryRecord():
            return _take_memories(job, cast("Sequence[MemoryRecord]", records), context)
        case Session():
            return _counted(_take_session(job, first, context), records)
        case TalkRecord():
            return _counted(_take_talks(job, cast("Sequence[TalkRecord]", records), context), records)
        case ChatHistory():
            return _counted(_take_chat(job, first, context), records)
        case StreamRecord():
            return _counted(_take_stream(job, first, context), records)
        case _:
            return _take_said(job, cast("Sequence[StreamEventRecord]", records), context)


def _counted(what: ImportOutcome, records: Sequence[Record]) -> Counter[str]:
    counts = Counter[str]()
    for record in records:
        for name, count in record_wire.counted(record).items():
            counts[name if what is ImportOutcome.IMPORTED else name + what.capitalize()] += count
    return counts


def _ground(job: Transfer, scope: dict[str, str], context: ImportContext) -> ScopeState:
    """Return what the scope is like. Raises Unavailable while an erasure that is older than the import goes on."""
    ground = context.imports.ground(job, scope)
    if ground.is_erasing and not ground.is_erased:
        raise Unavailable("a scope is being erased; the import goes on afterwards")
    return ground


def _take_memories(job: Transfer, records: Sequence[MemoryRecord], context: ImportContext) -> Counter[str]:
    by_id = {one.memory.id: one for one in records}
    scope, now = records[0].memory.scope, context.clock()
    ground = _ground(job, scope, context)
    if ground.is_erased:
        return _counted(ImportOutcome.ERASED, records)
    counts, chosen = Counter[str](), list[tuple[Memory | None, MemoryRecord]]()
    for record, taken in zip(by_id.values(), context.imports.taken(job.bank, scope, list(by_id), now=now), strict=True):
        what = decide_import(record.memory, taken.memory, is_id_taken=taken.is_elsewhere, now=now)
        counts += _counted(what, [record])
        if what is ImportOutcome.IMPORTED:
            is_over = taken.memory is not None and not taken.memory.deleted and not taken.memory.is_live(now)
            chosen.append((None if is_over else taken.memory, record))
    context.imports.write_memories(job, ground, _embedded(job, chosen, context), now=now)
    return counts


def _embedded(
    job: Transfer, chosen: Sequence[tuple[Memory | None, MemoryRecord]], context: ImportContext
) -> list[tuple[Memory | None, MemoryRecord]]:
    """Return *chosen* with vectors, all made in one call; profiles are not searched by meaning and have none."""
    facts = [record.memory.fact for _, record in chosen if record.memory.fact and not record.memory.profile]
    model = bank_config(context.banks.document(job.bank)).embedding_model
    vectors = dict(zip(facts, context.embedder.embed(facts, model=model), strict=True)) if facts else {}
    return [
        (before, replace(record, memory=replace(record.memory, vector=_vector(record, vectors))))
        for before, record in chosen
    ]


def _vector(record: MemoryRecord, vectors: dict[str, bytes]) -> bytes:
    return b"" if record.memory.profile else vectors.get(record.memory.fact, b"")


def _take_session(job: Transfer, session: Session, context: ImportContext) -> ImportOutcome:
    """A session that is there stays as it is; what is left of one that has gone makes way."""
    now = context.clock()
    if not session.is_live(now):
        return ImportOutcome.EXPIRED
    present = context.sessions.find(job.bank, session.id)
    if present and present.is_live(now):
        return ImportOutcome.KEPT if present.first == session.first else ImportOutcome.CONFLICTING
    if present:
        context.sessions.bury(job.bank, present, now=now)
    context.imports.write_session(job, session)
    return ImportOutcome.IMPORTED


def _take_talks(job: Transfer, records: Sequence[TalkRecord], context: ImportContext) -> ImportOutcome:
    """Events are taken into the session that they are of, also where an earlier import was interrupted."""
    first = records[0]
    session = context.sessions.live(job.bank, first.session_id, now=context.clock())
    if session is None or session.first != first.first:
        return ImportOutcome.CONFLICTING
    events = {one.event.number: one for one in records if session.first < one.event.number <= session.last}
    if events:
        context.imports.write_talk(job, session, list(events.values()))
    return ImportOutcome.IMPORTED


def _take_chat(job: Transfer, history: ChatHistory, context: ImportContext) -> ImportOutcome:
    now = context.clock()
    if history.expires is not None and history.expires <= now:
        return ImportOutcome.EXPIRED
    named = replace(history, version=uuid.uuid4().hex)
    return ImportOutcome.IMPORTED if context.imports.write_conversation(job, named, now=now) else ImportOutcome.KEPT


def _take_stream(job: Transfer, record: StreamRecord, context: ImportContext) -> ImportOutcome:
    """A stream that is there goes on by itself: its numbers are taken."""
    ground = _ground(job, record.stream.scope, context)
    if ground.is_erased:
        return ImportOutcome.ERASED
    if context.imports.has_stream(record.stream):
        return ImportOutcome.KEPT
    context.imports.begin_stream(job, ground, record)
    return ImportOutcome.IMPORTED


def _take_said(job: Transfer, records: Sequence[StreamEventRecord], context: ImportContext) -> Counter[str]:
    """Events, markers and windows are taken into the stream that the same export brought, and into no other."""
    stream, now = records[0].stream, context.clock()
    ground = _ground(job, stream.scope, context)
    if ground.is_erased:
        return _counted(ImportOutcome.ERASED, records)
    reach = context.imports.reach(job, stream)
    if reach is None:
        return _counted(ImportOutcome.KEPT, records)
    told = [one for one in records if _is_within(_end(one), reach) and not _is_over(one, now)]
    context.imports.write_said(job, ground, told, context.retention_policy, now=now)
    return _counted(ImportOutcome.IMPORTED, told)


def _end(record: StreamEventRecord) -> tuple[int, int]:
    """Return the last window and event that a record speaks of."""
    match record:
        case Window():
            return record.number, record.last_seq
        case BatchRecord():
            return record.window, record.last
    return record.window, record.seq


def _is_within(end: tuple[int, int], reach: tuple[int, int]) -> bool:
    """What came after the stream's own line was read is beyond it: the number may be another event's by now."""
    return end[0] <= reach[0] and end[1] <= reach[1]


def _is_over(record: StreamEventRecord, now: datetime) -> bool:
    return not isinstance(record, Window) and record.expires is not None and record.expires <= now
