"""The minute sweep: seals windows whose time has come, restarts lost generations, finishes what was begun.

It alone must recover everything; one item that cannot be handled stops no other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from streambank.errors import Conflict
from streambank.model.transfer import Direction
from streambank.model.window import Window
from streambank.pipeline.events.seal import seal
from streambank.pipeline.generation.fail import EXECUTION_DIED, Failed, fail_window
from streambank.pipeline.generation.start import Start, attempt_of, start
from streambank.pipeline.jobs.erase import EraseContext, proceed
from streambank.rules import triggers
from streambank.store.banks import Banks
from streambank.store.due import DueIndex, DueItem, DueKind
from streambank.store.executions import Executions
from streambank.store.memories import Memories
from streambank.store.streams import RetentionPolicy, Streams
from streambank.store.windows import Windows

if TYPE_CHECKING:
    from streambank.pipeline.jobs.export import ExportContext
    from streambank.pipeline.jobs.import_records import ImportContext

# How often a running generation, or a window that waits for its turn, is looked at again.
LOOK_AGAIN = timedelta(minutes=2)
# A window that waits this long lets its events live on, whatever their retention says.
LONG_WAIT = timedelta(days=7)
_JOBS = (DueKind.BANK, DueKind.ERASURE, DueKind.EXPORT, DueKind.IMPORT)
# What an export or an import takes of a sweep: it is due at the next one again, and windows do not wait for it.
CARRY = timedelta(seconds=20)


@dataclass(frozen=True, slots=True)
class SweepContext:
    """What a sweep needs."""

    due: DueIndex
    streams: Streams
    windows: Windows
    memories: Memories
    banks: Banks
    erasing: EraseContext
    exporting: Callable[[timedelta], ExportContext]
    importing: Callable[[timedelta], ImportContext]
    executions: Executions
    retention_policy: RetentionPolicy
    clock: Callable[[], datetime]
    jitter: Callable[[], float]


@dataclass(slots=True)
class SweepReport:
    """What a sweep did; *faults* names what went wrong by its key and the kind of error, never by any text.

    *oldest_seconds* is how long the window that was the longest overdue had waited for its seal.
    """

    seen: int = 0
    sealed: int = 0
    started: int = 0
    failed: int = 0
    parked: int = 0
    oldest_seconds: int = 0
    is_complete: bool = True
    faults: list[str] = field(default_factory=list)


def sweep(*, context: SweepContext, has_time: Callable[[], bool]) -> SweepReport:
    """Handle what is due now, until it is done or *has_time* says no; what is left is due at the next minute."""
    report = SweepReport()
    for item in _due_items(context):
        if not has_time():
            report.is_complete = False
            break
        report.seen += 1
        report.oldest_seconds = max(report.oldest_seconds, _overdue_seconds(item, context.clock()))
        try:
            _handle(item, context, report, has_time)
        except Conflict:
            continue  # somebody else is at it; if not, it is due again in a minute
        except Exception as fault:  # noqa: BLE001  one item that cannot be handled stops no other
            report.faults.append(f"{item.kind} {type(fault).__name__}")
    return report


def _due_items(context: SweepContext) -> Iterator[DueItem]:
    """Yield what is due, and at the end the jobs that take all the time there is: no window waits for them."""
    jobs: list[DueItem] = []
    for item in context.due.items(context.clock()):
        if item.kind in _JOBS:
            jobs.append(item)
        else:
            yield item
    yield from jobs


def _overdue_seconds(item: DueItem, now: datetime) -> int:
    return int((now - item.due).total_seconds()) if item.kind is DueKind.HEAD and item.due else 0


def _handle(item: DueItem, context: SweepContext, report: SweepReport, has_time: Callable[[], bool]) -> None:
    match item.kind:
        case DueKind.HEAD:
            _sweep_head(item, context, report)
        case DueKind.WINDOW:
            _sweep_window(item, context, report)
        case DueKind.MEMORY:
            context.memories.shorten_revisions(item.bank, item.name, item.memory)
        case DueKind.BANK:
            _delete_bank(item, context, has_time)
        case DueKind.CHAT:
            context.erasing.histories.clear(item.bank, item.name, item.version)
        case DueKind.ERASURE:
            _erase(item, context, has_time)
        case DueKind.EXPORT:
            _export(item, context)
        case DueKind.IMPORT:
            _import(item, context)


def _sweep_head(item: DueItem, context: SweepContext, report: SweepReport) -> None:
    """Seal, re-arm or disarm a stream's open window, always as its head says now."""
    now = context.clock()
    head, bank = context.streams.head_and_bank(item.bank, item.name)
    if head is None:
        return
    rule = triggers.effective_rule(None, head.rule, bank.default_rule if bank else None)
    reason = triggers.decide(head, rule, now=now)
    if reason:
        seal(head, reason, bank, streams=context.streams, now=now)
        report.sealed += 1
        return
    due = triggers.next_due(head, rule)
    at = triggers.round_up_to_second(due.at) if due else None
    if head.due != at:
        context.streams.rearm(head, at)


def _sweep_window(item: DueItem, context: SweepContext, report: SweepReport) -> None:
    window = context.windows.get(item.bank, item.name, item.window)
    if window is None or window.due is None or window.due > context.clock():
        return
    if window.has_ended:
        context.windows.release_events(window, now=context.clock(), retention_policy=context.retention_policy)
        return
    _sweep_pending(window, context, report)


def _sweep_pending(window: Window, context: SweepContext, report: SweepReport) -> None:
    now = context.clock()
    if not window.is_held_whole and now - window.sealed >= LONG_WAIT:
        context.windows.hold(window)
    begun = start(window, windows=context.windows, executions=context.executions)
    if begun is Start.TAKEN and not context.executions.is_running(attempt_of(window)):
        _count(report, fail_window(window, EXECUTION_DIED, windows=context.windows, now=now, jitter=context.jitter))
        return
    report.started += begun is Start.STARTED
    context.windows.rearm(window, now + LOOK_AGAIN)


def _count(report: SweepReport, failed: Failed) -> None:
    report.failed += not failed.is_late
    report.parked += failed.is_parked


def _delete_bank(item: DueItem, context: SweepContext, has_time: Callable[[], bool]) -> None:
    """Delete a closed bank's contents for as long as there is time; it stays due until all is gone."""
    if not context.banks.is_closing(item.bank):
        return
    for _ in context.banks.delete_contents(item.bank):
        if not has_time():
            return


def _erase(item: DueItem, context: SweepContext, has_time: Callable[[], bool]) -> None:
    """Go on with an erasure whose caller has gone, or had no more time."""
    erasure = context.erasing.erasures.find(item.bank, item.name)
    if erasure and not erasure.ended:
        proceed(erasure, context=replace(context.erasing, has_time=has_time))


def _export(item: DueItem, context: SweepContext) -> None:
    """Go on with an export for a while; what it takes is loaded where there is one."""
    from streambank.pipeline.jobs.export import proceed as go_on

    exporting = context.exporting(CARRY)
    transfer = exporting.transfers.find(item.bank, Direction.EXPORT)
    if transfer and not transfer.ended:
        go_on(transfer, context=exporting)


def _import(item: DueItem, context: SweepContext) -> None:
    """Go on with an import for a while."""
    from streambank.pipeline.jobs.import_job import proceed as go_on

    importing = context.importing(CARRY)
    transfer = importing.transfers.find(item.bank, Direction.IMPORT)
    if transfer and not transfer.ended:
        go_on(transfer, context=importing)
