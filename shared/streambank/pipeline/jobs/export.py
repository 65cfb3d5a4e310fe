"""Exporting a scope, or a bank, as lines of JSON: part by part, each booked once it is written.

A run that dies has written at most a part that nobody booked; the next one, with a number of its own, writes it again
under another name. The manifest, which alone makes an export one, is written when all parts are booked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from streambank.errors import Conflict, Unavailable
from streambank.model.transfer import END, MANIFEST, Direction, Manifest, Transfer, TransferSpec
from streambank.retry import RetryPolicy
from streambank.store.banks import Banks
from streambank.store.exports import ExportCursor, Exports
from streambank.store.objects import Objects
from streambank.store.transfers import Transfers
from streambank.wire import manifest, record

# An object is held in memory whole, here and when it is imported.
PART_BYTES = 4_000_000


@dataclass(frozen=True, slots=True)
class ExportContext:
    """What an export needs; it stops between two records when *has_time* says no."""

    transfers: Transfers
    exports: Exports
    objects: Objects
    banks: Banks
    retry_policy: RetryPolicy
    clock: Callable[[], datetime]
    has_time: Callable[[], bool]
    part_bytes: int = PART_BYTES


@dataclass(slots=True)
class _Part:
    """The lines of a part, and the place that they end at."""

    lines: bytearray = field(default_factory=bytearray)
    counts: Counter[str] = field(default_factory=Counter)
    cursor: tuple[str | int, ...] = END


def begin(bank: str, wanted: TransferSpec, *, context: ExportContext) -> Transfer:
    """Enter an export and return how far it has come; one that is under way is gone on with.

    Raises:
        Unavailable: another one is under way, or the bank is being erased.
    """
    return proceed(
        entered(bank, Direction.EXPORT, wanted, context.transfers, context.retry_policy, context.clock), context=context
    )


def entered(
    bank: str,
    direction: Direction,
    wanted: TransferSpec,
    transfers: Transfers,
    retry_policy: RetryPolicy,
    clock: Callable[[], datetime],
) -> Transfer:
    """Return the job that was entered, or the same one that is under way. Raises Unavailable."""
    for _ in retry_policy.attempts():
        try:
            transfer = transfers.begin(bank, direction, wanted, now=clock())
        except Conflict:
            continue
        if transfer.wanted != wanted:
            raise Unavailable(f"another {direction} is under way; try again")
        return transfer
    raise Unavailable(f"another {direction} is entered at the same time; try again")


def proceed(transfer: Transfer, *, context: ExportContext) -> Transfer:
    """Go on with an export until it is done or the time is over, and return it as it is then.

    It writes at least one record of those that are left: however often it is interrupted, it comes to its end.

    Raises:
        Conflict: somebody else has taken it up.
    """
    job = context.transfers.claim(transfer, now=context.clock())
    if context.banks.get(job.bank) is None:
        return context.transfers.finish(job, "the bank is gone", now=context.clock())
    is_first = True
    while job.cursor != END:
        if not is_first and not context.has_time():
            return job
        is_first = False
        job = _write_part(job, context)
    context.objects.put(job.prefix + MANIFEST, _manifest(job, context.clock()))
    return context.transfers.finish(job, now=context.clock())


def _write_part(job: Transfer, context: ExportContext) -> Transfer:
    part = _collected(job, context)
    if part.lines:
        context.objects.put(job.prefix + job.next_part, bytes(part.lines))
    return context.transfers.book(job, part.cursor, part.counts, has_part=bool(part.lines), now=context.clock())


def _collected(job: Transfer, context: ExportContext) -> _Part:
    """Return the records that come next, as many as a part holds and the time allows."""
    part = _Part()
    for place, found in context.exports.records(job.bank, job.wanted, _place(job), now=context.clock()):
        if found is not None:
            part.lines += record.line(found)
            part.counts.update(record.counted(found))
        if len(part.lines) >= context.part_bytes or not context.has_time():
            part.cursor = place
            return part
    return part


def _place(job: Transfer) -> ExportCursor | None:
    if not job.cursor:
        return None
    shard, entry, inner = job.cursor
    return int(shard), str(entry), str(inner)


def _manifest(job: Transfer, now: datetime) -> bytes:
    complete = Manifest(job.bank, job.started, now, job.wanted.scope, job.counts, tuple(job.parts))
    return manifest.written(complete)
