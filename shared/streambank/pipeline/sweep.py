"""The minute sweep: it seals windows that are due, restarts lost generations, and resumes jobs and deletions.

It alone must recover everything; one item that cannot be handled stops no other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from streambank.errors import Conflict
from streambank.model.window import Window
from streambank.pipeline.events.seal import seal
from streambank.pipeline.generation.fail import EXECUTION_DIED, FailContext, RecordedFailure, fail_window
from streambank.pipeline.generation.start import StartOutcome, attempt_of, start
from streambank.pipeline.jobs import erase, export, import_job
from streambank.pipeline.jobs.erase import EraseContext
from streambank.pipeline.jobs.export import ExportContext
from streambank.pipeline.jobs.import_records import ImportContext
from streambank.rules import triggers
from streambank.store.banks import Banks
from streambank.store.due import DueIndex, DueItem, DueKind
from streambank.store.executions import Executions
from streambank.store.memories import Memories
from streambank.store.streams import RetentionPolicy, Streams
from streambank.store.windows import Windows

# How often a running generation, or a window that waits for the one before it, is checked.
RECHECK_AFTER = timedelta(minutes=2)
# A window that waits this long suspends the expiry of its events, whatever their retention is.
LONG_WAIT = timedelta(days=7)
# The time of an export or an import in one sweep; the next sweep resumes it.
TRANSFER_TIME = timedelta(seconds=20)


@dataclass(frozen=True, slots=True)
class SweepContext:
    """What a sweep needs; *export_context* and *import_context* make a context that has the given time."""

    due: DueIndex
    streams: Streams
    windows: Windows
    memories: Memories
    banks: Banks
    erase_context: EraseContext
    export_context: Callable[[timedelta], ExportContext]
    import_context: Callable[[timedelta], ImportContext]
    executions: Executions
    retention_policy: RetentionPolicy
    clock: Callable[[], datetime]
    jitter: Callable[[], float]


@dataclass(slots=True)
class SweepReport:
    """What a sweep did; *faults* has the kind of item and the type of each error, never any text.

    *oldest_seconds* is the longest time that an open window was overdue.
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
    """Handle what is due now, until it is done or *has_time* returns False; what is left is due at the next minute."""
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
            continue  # another process has handled it; if not, it is due again in a minute
        except Exception as fault:  # noqa: BLE001  one item that cannot be handled stops no other
            report.faults.append(f"{item.kind} {type(fault).__name__}")
    return report


def _due_items(context: SweepContext) -> Iterator[DueItem]:
    """Yield what is due, jobs and the deletion of banks last: they take all the time there is."""
    jobs: list[DueItem] = []
    for item in context.due.items(context.clock()):
        if item.kind in _LONG_WORK:
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
        case DueKind.CHAT:
            context.erase_context.histories.clear(item.bank, item.name, item.version)
        case kind:
            _LONG_WORK[kind](item, context, has_time)


def _sweep_head(item: DueItem, context: SweepContext, report: SweepReport) -> None:
    """Seal, re-arm or disarm a stream's open window, as its head is now; nothing is sealed for a bank that goes."""
    now = context.clock()
    head, bank = context.streams.head_and_bank(item.bank, item.name)
    if head is None:
        return
    if bank is None:
        context.streams.rearm(head, None)
        return
    rule = triggers.effective_rule(None, head.rule, bank.default_rule)
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
        context.windows.restore_expiry(window, now=context.clock(), retention_policy=context.retention_policy)
        return
    _sweep_pending(window, context, report)


def _sweep_pending(window: Window, context: SweepContext, report: SweepReport) -> None:
    now = context.clock()
    if not window.is_suspension_complete and now - window.sealed >= LONG_WAIT:
        context.windows.suspend_expiry(window)
    outcome = start(window, windows=context.windows, executions=context.executions)
    if outcome is StartOutcome.NAME_TAKEN and not context.executions.is_running(attempt_of(window)):
        failure = fail_window(window, EXECUTION_DIED, context=FailContext(context.windows, now, context.jitter))
        _count_failure(report, failure)
        return
    report.started += outcome is StartOutcome.STARTED
    context.windows.rearm(window, now + RECHECK_AFTER)


def _count_failure(report: SweepReport, failure: RecordedFailure) -> None:
    report.failed += not failure.is_late
    report.parked += failure.is_parked


def _delete_bank(item: DueItem, context: SweepContext, has_time: Callable[[], bool]) -> None:
    """Delete a closed bank's contents for as long as there is time; it stays due until a last walk finds none."""
    if not context.banks.is_closing(item.bank):
        return
    is_empty = True
    for _ in context.banks.delete_contents(item.bank):
        is_empty = False
        if not has_time():
            return
    context.banks.finish_walk(item.bank, is_empty=is_empty, now=context.clock())


def _resume_erasure(item: DueItem, context: SweepContext, has_time: Callable[[], bool]) -> None:
    erase.resume(item.bank, item.name, context=replace(context.erase_context, has_time=has_time))


def _resume_export(item: DueItem, context: SweepContext, _has_time: Callable[[], bool]) -> None:
    export.resume(item.bank, context=context.export_context(TRANSFER_TIME))


def _resume_import(item: DueItem, context: SweepContext, _has_time: Callable[[], bool]) -> None:
    import_job.resume(item.bank, context=context.import_context(TRANSFER_TIME))


_LONG_WORK: Mapping[DueKind, Callable[[DueItem, SweepContext, Callable[[], bool]], None]] = {
    DueKind.BANK: _delete_bank,
    DueKind.ERASURE: _resume_erasure,
    DueKind.EXPORT: _resume_export,
    DueKind.IMPORT: _resume_import,
}
