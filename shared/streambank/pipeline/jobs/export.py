"""Exporting a scope, or a bank, as lines of JSON: part by part, each recorded once it is written.

A run that dies has written at most one part that was not recorded; the next run, with a number of its own, writes it
again under another name. The manifest, which makes the export complete, is written when all parts are recorded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from streambank.model.transfer import END, MANIFEST, Direction, Manifest, Transfer, TransferSpec
from streambank.pipeline.jobs import transfer as transfers
from streambank.pipeline.jobs.job import Step
from streambank.pipeline.jobs.transfer import TransferContext
from streambank.store.exports import ExportCursor, Exports
from streambank.wire import manifest
from streambank.wire import record as record_wire

# An object is in memory whole, here and when it is imported.
PART_BYTES = 4_000_000


@dataclass(frozen=True, slots=True)
class ExportContext(TransferContext):
    """What an export needs; it also stops between two records when *has_time* returns False."""

    exports: Exports
    part_bytes: int = PART_BYTES


def export_bank(bank: str, request: TransferSpec, *, context: ExportContext) -> Transfer:
    """Start an export of a bank, or of a scope of it, and return how far it has come; one under way is resumed.

    Raises:
        Unavailable: another one is under way, or the bank is being erased.
    """
    return proceed(transfers.begin(bank, Direction.EXPORT, request, context=context), context=context)


def resume(bank: str, *, context: ExportContext) -> Transfer | None:
    """Resume the export of a bank; None if none is under way. Raises as `proceed` does."""
    transfer = transfers.under_way(bank, Direction.EXPORT, context=context)
    return proceed(transfer, context=context) if transfer else None


def proceed(transfer: Transfer, *, context: ExportContext) -> Transfer:
    """Go on with an export until it is done or the time is over, and return it as it is then.

    Raises:
        Conflict: another run of the export was started.
    """
    return transfers.proceed(transfer, lambda claimed: _Run(claimed, context), context=context)


@dataclass(slots=True)
class _Run:
    """A run that writes a part a step."""

    transfer: Transfer
    context: ExportContext

    def steps(self) -> Iterator[Step]:
        while self.transfer.cursor != END:
            yield self._write_part

    def pause(self) -> Transfer:
        return self.transfer  # each part is recorded already

    def finish(self) -> Transfer:
        context = self.context
        context.objects.put(self.transfer.prefix + MANIFEST, _manifest(self.transfer, context.clock()))
        return context.transfers.finish(self.transfer, now=context.clock())

    def _write_part(self) -> None:
        transfer, context = self.transfer, self.context
        part = _next_part(transfer, context)
        if part.lines:
            context.objects.put(transfer.prefix + transfer.next_part, bytes(part.lines))
        self.transfer = context.transfers.record_progress(
            transfer, part.cursor, part.counts, has_part=bool(part.lines), now=context.clock()
        )


@dataclass(slots=True)
class _Part:
    """The lines of a part, and the cursor behind them."""

    lines: bytearray = field(default_factory=bytearray)
    counts: Counter[str] = field(default_factory=Counter)
    cursor: tuple[str | int, ...] = END


def _next_part(transfer: Transfer, context: ExportContext) -> _Part:
    """Return the records that come next, as many as a part holds and the time allows."""
    part = _Part()
    records = context.exports.records(transfer.bank, transfer.request, _cursor(transfer), now=context.clock())
    for cursor, record in records:
        if record is not None:
            part.lines += record_wire.line(record)
            part.counts.update(record_wire.counted(record))
        if len(part.lines) >= context.part_bytes or not context.has_time():
            part.cursor = cursor
            return part
    return part


def _cursor(transfer: Transfer) -> ExportCursor | None:
    if not transfer.cursor:
        return None
    shard, entry, inner = transfer.cursor
    return int(shard), str(entry), str(inner)


def _manifest(transfer: Transfer, now: datetime) -> bytes:
    scope, parts = transfer.request.scope, tuple(transfer.parts)
    return manifest.written(Manifest(transfer.bank, transfer.started, now, scope, transfer.counts, parts))
