"""Importing an export: line by line in batches, each recorded once it is written.

Every batch may be written twice. What is there already, as new or newer, stays; vectors are made anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice

from streambank.errors import InvalidArgument
from streambank.model.record import MemoryRecord, Record, ReviewRecord, SessionEventRecord
from streambank.model.transfer import MANIFEST, Direction, Manifest, Transfer, TransferSpec
from streambank.pipeline.jobs import transfer as transfers
from streambank.pipeline.jobs.import_records import ImportContext, StreamEventRecord, import_records
from streambank.pipeline.jobs.job import Step
from streambank.wire import manifest as manifest_wire
from streambank.wire import record as record_wire

# The limits of a batch: it fits into a transaction, and its texts are embedded in little time, eight at once.
BATCH_LINES = 25
BATCH_BYTES = 1_000_000
MAX_PART_BYTES = 32_000_000


@dataclass(frozen=True, slots=True)
class _Batch:
    """Records that are written together, and the number of the last of their lines."""

    records: tuple[Record, ...]
    end: int


def import_bank(bank: str, source: str, *, context: ImportContext) -> Transfer:
    """Start an import of the export whose manifest is *source* into a bank, and return how far it has come.

    Raises:
        InvalidArgument: there is no such export, or its format is not known here.
        Unavailable: another import is under way, the bank or a scope is being erased, or the embedding model is away;
            an import that was started is resumed by the sweep.
    """
    _read_manifest(source, context)
    request = TransferSpec(source=source)
    return proceed(transfers.begin(bank, Direction.IMPORT, request, context=context), context=context)


def resume(bank: str, *, context: ImportContext) -> Transfer | None:
    """Resume the import into a bank; None if none is under way. Raises as `proceed` does."""
    transfer = transfers.under_way(bank, Direction.IMPORT, context=context)
    return proceed(transfer, context=context) if transfer else None


def proceed(transfer: Transfer, *, context: ImportContext) -> Transfer:
    """Go on with an import until it is done or the time is over, and return it as it is then.

    An object that cannot be read ends it, with a failure that names the line.

    Raises:
        Conflict: another run of the import was started.
        Unavailable, GenerationError: a batch could not be written now; the sweep resumes the import.
    """
    return transfers.proceed(transfer, lambda claimed: _Run(claimed, context), context=context)


@dataclass(slots=True)
class _Run:
    """A run that writes a batch a step."""

    transfer: Transfer
    context: ImportContext

    def steps(self) -> Iterator[Step]:
        parts = _read_manifest(self.transfer.request.source, self.context).parts
        first, line = (int(one) for one in self.transfer.cursor or (0, 0))
        for number in range(first, len(parts)):
            lines = _lines(self.transfer, parts[number], self.context)
            for batch in _batches(lines, line if number == first else 0, self.transfer.bank):
                yield partial(self._import_batch, number, batch)

    def _import_batch(self, number: int, batch: _Batch) -> None:
        counts = import_records(self.transfer, batch.records, self.context)
        self.transfer = self.context.transfers.record_progress(
            self.transfer, (number, batch.end), counts, now=self.context.clock()
        )

    def pause(self) -> Transfer:
        return self.transfer  # each batch is recorded already

    def finish(self) -> Transfer:
        return self.context.transfers.finish(self.transfer, now=self.context.clock())


# ---- reading


def _read_manifest(source: str, context: ImportContext) -> Manifest:
    data = context.objects.get(source, most_bytes=manifest_wire.MAX_BYTES)
    if data is None:
        raise InvalidArgument("source", "there is no such export, or it is not complete, or it has expired")
    return manifest_wire.read(data)


def _lines(transfer: Transfer, part: str, context: ImportContext) -> Iterator[tuple[str, bytes]]:
    """Yield the lines of a part with the names that messages have for them."""
    data = context.objects.get(transfer.request.source.removesuffix(MANIFEST) + part, most_bytes=MAX_PART_BYTES)
    if data is None:
        raise InvalidArgument("source", f"{part} does not exist any more")
    return ((f"{part} line {number}", line) for number, line in enumerate(data.splitlines(), 1))


def _batches(lines: Iterator[tuple[str, bytes]], after: int, bank: str) -> Iterator[_Batch]:
    """Yield the records after line *after*, those together that one transaction takes."""
    together, size, end = list[Record](), 0, after
    for name, line in islice(lines, after, None):
        record = _record(name, line, bank)
        is_full = len(together) == BATCH_LINES or size + len(line) > BATCH_BYTES
        if together and (is_full or not _belong_together(together[-1], record)):
            yield _Batch(tuple(together), end)
            together, size = [], 0
        together.append(record)
        size, end = size + len(line), end + 1
    if together:
        yield _Batch(tuple(together), end)


def _record(name: str, line: bytes, bank: str) -> Record:
    try:
        return record_wire.read(line, bank)
    except InvalidArgument as refusal:
        raise InvalidArgument("source", f"{name}: {refusal}") from refusal


def _belong_together(one: Record, other: Record) -> bool:
    """Tell whether two records may be written together."""
    if isinstance(one, MemoryRecord) and isinstance(other, MemoryRecord):
        return one.memory.scope == other.memory.scope
    if isinstance(one, ReviewRecord) and isinstance(other, ReviewRecord):
        return one.review.scope == other.review.scope
    if isinstance(one, SessionEventRecord) and isinstance(other, SessionEventRecord):
        return (one.session_id, one.first) == (other.session_id, other.first)
    return (
        isinstance(one, StreamEventRecord)
        and isinstance(other, StreamEventRecord)
        and one.stream.sid == other.stream.sid
    )
