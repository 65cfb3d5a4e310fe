"""Importing an export: line by line in batches, each booked once it is written.

Every batch may be written twice. What is there already, as new or newer, stays; vectors are made anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from streambank.errors import InvalidArgument
from streambank.model.transfer import (
    MANIFEST,
    Direction,
    Manifest,
    MemoryRecord,
    Record,
    TalkRecord,
    Transfer,
    TransferSpec,
)
from streambank.pipeline.jobs.export import entered
from streambank.pipeline.jobs.import_records import BankErasedError, ImportContext, StreamEventRecord, import_records
from streambank.wire import manifest as manifest_wire
from streambank.wire import record as record_wire

# Of one batch: what a transaction takes, and what eight embeddings at once take little time for.
BATCH_LINES = 25
BATCH_BYTES = 1_000_000
MAX_PART_BYTES = 32_000_000


@dataclass(frozen=True, slots=True)
class _Batch:
    """Records of one kind and one home, and how many lines there are up to their end."""

    records: tuple[Record, ...]
    end: int


def begin(bank: str, source: str, *, context: ImportContext) -> Transfer:
    """Enter an import of the export whose manifest is *source*, and return how far it has come.

    Raises:
        InvalidArgument: there is no such export, or not in a format that is known here.
        Unavailable: another import is under way, the bank or a scope is being erased, or the embedding model is away;
            an import that was entered goes on by itself.
    """
    _read_manifest(source, context)
    wanted = TransferSpec(source=source)
    return proceed(
        entered(bank, Direction.IMPORT, wanted, context.transfers, context.retry_policy, context.clock), context=context
    )


def proceed(transfer: Transfer, *, context: ImportContext) -> Transfer:
    """Go on with an import until it is done or the time is over, and return it as it is then.

    It writes at least one batch of those that are left. What cannot be read ends it, with a failure that says where.

    Raises:
        Conflict: somebody else has taken it up.
        Unavailable, GenerationError: it stands still, and goes on when it is taken up again.
    """
    job = context.transfers.claim(transfer, now=context.clock())
    if context.banks.get(job.bank) is None:
        return context.transfers.finish(job, "the bank is gone", now=context.clock())
    try:
        return _carried(job, context)
    except BankErasedError:
        failure = "the bank was erased meanwhile"
    except InvalidArgument as refusal:
        failure = str(refusal)
    context.transfers.finish(job, failure, now=context.clock())
    return context.transfers.find(job.bank, job.direction) or job


def _carried(job: Transfer, context: ImportContext) -> Transfer:
    parts = _read_manifest(job.wanted.source, context).parts
    begun, line = (int(one) for one in job.cursor or (0, 0))
    is_first = True
    for number in range(begun, len(parts)):
        for batch in _batches(_lines(job, parts[number], context), line if number == begun else 0, job.bank):
            if not is_first and not context.has_time():
                return job
            is_first = False
            counts = import_records(job, batch.records, context)
            job = context.transfers.book(job, (number, batch.end), counts, now=context.clock())
    return context.transfers.finish(job, now=context.clock())


# ---- reading


def _read_manifest(source: str, context: ImportContext) -> Manifest:
    data = context.objects.get(source, most_bytes=manifest_wire.MAX_BYTES)
    if data is None:
        raise InvalidArgument("source", "there is no such export, or it is not complete, or it has expired")
    return manifest_wire.read(data)


def _lines(job: Transfer, part: str, context: ImportContext) -> Iterator[tuple[str, bytes]]:
    """Yield the lines of a part with what they are called when something is wrong with them."""
    data = context.objects.get(job.wanted.source.removesuffix(MANIFEST) + part, most_bytes=MAX_PART_BYTES)
    if data is None:
        raise InvalidArgument("source", f"{part} is not there any more")
    return ((f"{part} line {number}", line) for number, line in enumerate(data.splitlines(), 1))


def _batches(lines: Iterator[tuple[str, bytes]], begun: int, bank: str) -> Iterator[_Batch]:
    """Yield the records after line *begun*, those together that one transaction takes."""
    together, size, end = list[Record](), 0, begun
    for name, line in islice(lines, begun, None):
        found = _record(name, line, bank)
        is_full = len(together) == BATCH_LINES or size + len(line) > BATCH_BYTES
        if together and (is_full or not _belong(together[-1], found)):
            yield _Batch(tuple(together), end)
            together, size = [], 0
        together.append(found)
        size, end = size + len(line), end + 1
    if together:
        yield _Batch(tuple(together), end)


def _record(name: str, line: bytes, bank: str) -> Record:
    try:
        return record_wire.read(line, bank)
    except InvalidArgument as refusal:
        raise InvalidArgument("source", f"{name}: {refusal}") from refusal


def _belong(one: Record, other: Record) -> bool:
    """Tell whether two records may be written together."""
    if isinstance(one, MemoryRecord) and isinstance(other, MemoryRecord):
        return one.memory.scope == other.memory.scope
    if isinstance(one, TalkRecord) and isinstance(other, TalkRecord):
        return (one.session_id, one.first) == (other.session_id, other.first)
    return (
        isinstance(one, StreamEventRecord)
        and isinstance(other, StreamEventRecord)
        and one.stream.sid == other.stream.sid
    )
