"""Writing the records of an import: what is there already, as new or newer, or under the same id, stays."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import cast

from streambank.errors import Conflict, Unavailable
from streambank.llm.ports import Embedder
from streambank.model.change_record import ChangeStamp
from streambank.model.chat import ChatHistory
from streambank.model.memory import Memory
from streambank.model.record import (
    BatchRecord,
    ConsentRecord,
    MarkerRecord,
    MemoryRecord,
    Record,
    ReviewRecord,
    SessionEventRecord,
    StreamRecord,
)
from streambank.model.session import Session
from streambank.model.transfer import Transfer
from streambank.model.window import Window
from streambank.pipeline.consent import restore_consent
from streambank.pipeline.generation.token_budget import TokenBudget
from streambank.pipeline.jobs.import_ids import name_memories, session_ids
from streambank.pipeline.jobs.import_reviews import name_reviews
from streambank.pipeline.jobs.transfer import BankErasedError, TransferContext
from streambank.pipeline.screening.records import screened_records
from streambank.pipeline.screening.screening import Screenings
from streambank.rules.bank_config import bank_config
from streambank.rules.changes import record_expiry
from streambank.rules.import_outcome import ImportOutcome, decide_import
from streambank.store.consents import Consents
from streambank.store.imports import Imports, ScopeState
from streambank.store.reviews import Reviews
from streambank.store.sessions import Sessions
from streambank.store.streams import RetentionPolicy
from streambank.wire import record as record_wire

StreamEventRecord = BatchRecord | MarkerRecord | Window


@dataclass(frozen=True, slots=True)
class ImportContext(TransferContext):
    """What an import needs."""

    imports: Imports
    consents: Consents
    reviews: Reviews
    sessions: Sessions
    embedder: Embedder
    token_budget: TokenBudget
    retention_policy: RetentionPolicy
    id_secret: bytes
    screenings: Screenings = field(default=Screenings())


def import_records(job: Transfer, records: Sequence[Record], context: ImportContext) -> Counter[str]:
    """Write the records of one batch, which are of one kind, and return how many had which outcome.

    Raises:
        BankErasedError: the bank was erased since the import started.
        Unavailable: others write the same items at every try, or a scope is being erased.
        GenerationError: the embedding model's own, or BudgetPaused.
    """
    for _ in context.retry_policy.attempts():
        if context.imports.is_bank_erased(job):
            raise BankErasedError
        try:
            return _import_batch(job, records, context)
        except Conflict:
            continue
    raise Unavailable("the imported items are written by others at the same time; try again")


def _import_batch(job: Transfer, records: Sequence[Record], context: ImportContext) -> Counter[str]:
    bank = context.banks.get(job.bank)
    if bank and bank.content_policy:
        records = screened_records(records, bank.content_policy, screening=context.screenings.of(bank.id))
    first = records[0]
    match first:
        case MemoryRecord():
            return _import_memories(job, cast("Sequence[MemoryRecord]", records), context)
        case ReviewRecord():
            return _import_reviews(job, cast("Sequence[ReviewRecord]", records), context)
        case StreamRecord():
            return _count(_import_stream(job, first, context), records)
        case BatchRecord() | MarkerRecord() | Window():
            return _import_stream_events(job, cast("Sequence[StreamEventRecord]", records), context)
        case _:
            return _count(_import_other(job, records, context), records)


def _import_other(job: Transfer, records: Sequence[Record], context: ImportContext) -> ImportOutcome:
    first = records[0]
    match first:
        case ConsentRecord():
            return _import_consent(job, first, context)
        case Session():
            return _import_session(job, first, context)
        case ChatHistory():
            return _import_conversation(job, first, context)
        case _:
            return _import_session_events(job, cast("Sequence[SessionEventRecord]", records), context)


def _count(outcome: ImportOutcome, records: Sequence[Record]) -> Counter[str]:
    counts = Counter[str]()
    for record in records:
        for name, count in record_wire.counted(record).items():
            counts[name if outcome is ImportOutcome.IMPORTED else name + outcome.capitalize()] += count
    return counts


def _scope_state(job: Transfer, scope: dict[str, str], context: ImportContext) -> ScopeState:
    """Return the state of a scope. Raises Unavailable while an erasure that is older than the import is under way."""
    state = context.imports.scope_state(job, scope)
    if state.is_erasing and not state.is_erased:
        raise Unavailable("a scope is being erased; the import goes on afterwards")
    return state


def _import_memories(job: Transfer, records: Sequence[MemoryRecord], context: ImportContext) -> Counter[str]:
    by_id = {one.memory.id: one for one in records}
    scope, now = records[0].memory.scope, context.clock()
    state = _scope_state(job, scope, context)
    if state.is_erased:
        return _count(ImportOutcome.ERASED, records)
    counts, changes = Counter[str](), list[tuple[Memory | None, MemoryRecord]]()
    named = name_memories(job.bank, list(by_id.values()), imports=context.imports, secret=context.id_secret, now=now)
    for one in named:
        outcome = decide_import(one.record.memory, one.existing, is_renamed=one.is_renamed, now=now)
        counts += _count(outcome, [one.record])
        if outcome in (ImportOutcome.IMPORTED, ImportOutcome.RENAMED):
            is_there = one.existing and (one.existing.deleted or one.existing.is_live(now))
            changes.append((one.existing if is_there else None, one.record))
    embedded = _with_vectors(job, changes, context)
    context.imports.write_memories(job, state, embedded, now=now, stamp=_stamp(job, context))
    return counts


def _stamp(job: Transfer, context: ImportContext) -> ChangeStamp:
    """Return the stamp of memories that are written now: embedding them may have taken minutes."""
    written = context.clock()
    return ChangeStamp(written, record_expiry(bank_config(context.banks.document(job.bank)), now=written))


def _with_vectors(
    job: Transfer, changes: Sequence[tuple[Memory | None, MemoryRecord]], context: ImportContext
) -> list[tuple[Memory | None, MemoryRecord]]:
    """Return *changes* with vectors, all made in one call; profiles are not searched by meaning and have none."""
    facts = [record.memory.fact for _, record in changes if record.memory.fact and not record.memory.profile]
    config = bank_config(context.banks.document(job.bank))
    made = context.token_budget.embed(job.bank, config, facts, context.embedder, now=context.clock()) if facts else []
    vectors = dict(zip(facts, made, strict=True))
    return [
        (before, replace(record, memory=replace(record.memory, vector=_vector(record, vectors))))
        for before, record in changes
    ]


def _vector(record: MemoryRecord, vectors: dict[str, bytes]) -> bytes:
    return b"" if record.memory.profile else vectors.get(record.memory.fact, b"")


def _import_reviews(job: Transfer, records: Sequence[ReviewRecord], context: ImportContext) -> Counter[str]:
    scope, now = records[0].review.scope, context.clock()
    state = _scope_state(job, scope, context)
    if state.is_erased:
        return _count(ImportOutcome.ERASED, records)
    known = {one.id: one for one in context.reviews.of_scope(job.bank, scope, now=now)}
    named = name_reviews(job.bank, records, known, imports=context.imports, secret=context.id_secret, now=now)
    new = [review for _, outcome, review in named if outcome is ImportOutcome.IMPORTED]
    if new:
        context.imports.write_reviews(job, state, new)
    counts = Counter[str]()
    for record, outcome, _ in named:
        counts += _count(outcome, [record])
    return counts


def _import_consent(job: Transfer, record: ConsentRecord, context: ImportContext) -> ImportOutcome:
    """Set the consent of a scope, also after an erasure: that keeps it too."""
    is_newer = restore_consent(
        job.bank,
        record.scope,
        record.consent,
        consents=context.consents,
        banks=context.banks,
        retry_policy=context.retry_policy,
    )
    return ImportOutcome.IMPORTED if is_newer else ImportOutcome.KEPT


def _import_session(job: Transfer, session: Session, context: ImportContext) -> ImportOutcome:
    """Store a session, under a new id if another one with its id is live; the remains of an expired one are deleted."""
    now = context.clock()
    if not session.is_live(now):
        return ImportOutcome.EXPIRED
    for session_id in session_ids(job.bank, session.id, session.first, secret=context.id_secret):
        present = context.sessions.find(job.bank, session_id)
        if present and present.is_live(now):
            if present.first == session.first:
                return ImportOutcome.KEPT
            continue
        if present:
            context.sessions.delete(job.bank, present, now=now)
        context.imports.write_session(job, replace(session, id=session_id))
        return ImportOutcome.IMPORTED if session_id == session.id else ImportOutcome.RENAMED
    return ImportOutcome.CONFLICTING


def _import_session_events(
    job: Transfer, records: Sequence[SessionEventRecord], context: ImportContext
) -> ImportOutcome:
    """Store events of a session if it is the one that they are of, also where an earlier import was interrupted."""
    first, now = records[0], context.clock()
    names = session_ids(job.bank, first.session_id, first.first, secret=context.id_secret)
    sessions = (context.sessions.live(job.bank, name, now=now) for name in names)
    session = next((one for one in sessions if one and one.first == first.first), None)
    if session is None:
        return ImportOutcome.CONFLICTING
    events = {one.event.number: one for one in records if session.first < one.event.number <= session.last}
    if events:
        context.imports.write_session_events(job, session, list(events.values()))
    return ImportOutcome.IMPORTED


def _import_conversation(job: Transfer, history: ChatHistory, context: ImportContext) -> ImportOutcome:
    now = context.clock()
    if history.expires is not None and history.expires <= now:
        return ImportOutcome.EXPIRED
    new_version = replace(history, version=uuid.uuid4().hex)
    is_stored = context.imports.write_conversation(job, new_version, now=now)
    return ImportOutcome.IMPORTED if is_stored else ImportOutcome.KEPT


def _import_stream(job: Transfer, record: StreamRecord, context: ImportContext) -> ImportOutcome:
    """Store the head of a stream; one that exists keeps its own numbers, and its records are not imported."""
    state = _scope_state(job, record.stream.scope, context)
    if state.is_erased:
        return ImportOutcome.ERASED
    if context.imports.has_stream(record.stream):
        return ImportOutcome.KEPT
    context.imports.begin_stream(job, state, record)
    return ImportOutcome.IMPORTED


def _import_stream_events(job: Transfer, records: Sequence[StreamEventRecord], context: ImportContext) -> Counter[str]:
    """Store events, markers and windows in the stream that the same export brought, and in no other."""
    stream, now = records[0].stream, context.clock()
    state = _scope_state(job, stream.scope, context)
    if state.is_erased:
        return _count(ImportOutcome.ERASED, records)
    end = context.imports.end_of_stream(job, stream)
    if end is None:
        return _count(ImportOutcome.KEPT, records)
    imported = [one for one in records if _is_within(_last_numbers(one), end) and not _is_expired(one, now)]
    context.imports.write_stream_records(job, state, imported, context.retention_policy, now=now)
    return _count(ImportOutcome.IMPORTED, imported)


def _last_numbers(record: StreamEventRecord) -> tuple[int, int]:
    """Return the last window and the last event of a record."""
    match record:
        case Window():
            return record.number, record.last_seq
        case BatchRecord():
            return record.window, record.last
    return record.window, record.seq


def _is_within(numbers: tuple[int, int], end: tuple[int, int]) -> bool:
    """Tell whether a record was there when its stream's own line was written; later numbers may be taken by now."""
    return numbers[0] <= end[0] and numbers[1] <= end[1]


def _is_expired(record: StreamEventRecord, now: datetime) -> bool:
    return not isinstance(record, Window) and record.expires is not None and record.expires <= now
