"""The minute sweep: it seals windows that are due, restarts lost generations, and resumes jobs and deletions.

It alone must recover everything; one item that cannot be handled stops no other.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from streambank.errors import BudgetPaused, Conflict
from streambank.model.ids import OperationId
from streambank.model.window import Window
from streambank.pipeline.events.seal import seal
from streambank.pipeline.generation.fail import FailContext, RecordedFailure, fail_window, outcome_of_death
from streambank.pipeline.generation.finish import finish
from streambank.pipeline.generation.start import StartOutcome, attempt_of, start
from streambank.pipeline.jobs import erase, export, import_job, index_scope, move, policy_job, reindex, start_replay
from streambank.pipeline.jobs.erase import EraseContext
from streambank.pipeline.jobs.export import ExportContext
from streambank.pipeline.jobs.import_records import ImportContext
from streambank.pipeline.jobs.index_scope import IndexContext
from streambank.pipeline.jobs.move import MoveContext
from streambank.pipeline.jobs.policy_job import PolicyJobContext
from streambank.pipeline.jobs.reindex import ReindexContext
from streambank.pipeline.jobs.start_replay import StartReplayContext
from streambank.rules import triggers
from streambank.store.banks import Banks
from streambank.store.due import DueIndex, DueItem, DueKind
from streambank.store.executions import Executions
from streambank.store.memories import Memories
from streambank.store.streams import RetentionPolicy, Streams
from streambank.store.windows import Windows

# How often a running generation is checked; a window that waits for the one before it is made due by that one's end.
RECHECK_AFTER = timedelta(minutes=2)
# A window that waits this long suspends the expiry of its events, whatever their retention is.
LONG_WAIT = timedelta(days=7)
# Windows and jobs take turns of these lengths. Every job has the same turn, and the next sweep resumes it.
ITEMS_TURN = timedelta(seconds=60)
JOB_TURN = timedelta(seconds=20)


@dataclass(frozen=True, slots=True)
class SweepContext:
    """What a sweep needs; the contexts of other jobs are made for the time that they are given."""

    due: DueIndex
    streams: Streams
    windows: Windows
    memories: Memories
    banks: Banks
    erase_context: EraseContext
    move_context: MoveContext
    export_context: Callable[[timedelta], ExportContext]
    import_context: Callable[[timedelta], ImportContext]
    reindex_context: Callable[[timedelta], ReindexContext]
    index_context: Callable[[timedelta], IndexContext]
    policy_context: Callable[[timedelta], PolicyJobContext]
    replay_context: StartReplayContext
    executions: Executions
    retention_policy: RetentionPolicy
    clock: Callable[[], datetime]
    jitter: Callable[[], float]


@dataclass(slots=True)
class SweepReport:
    """What a sweep did; *faults* has the kind of item and the type of each error, never any text.

    *oldest_seconds* is the longest time that anything but a job was overdue, *oldest_job_seconds* that a job was.
    *oldest_pending_seconds* is the age, since its seal, of the oldest window whose generation is its stream's next.
    """

    seen: int = 0
    sealed: int = 0
    started: int = 0
    failed: int = 0
    parked: int = 0
    oldest_seconds: int = 0
    oldest_job_seconds: int = 0
    oldest_pending_seconds: int = 0
    is_complete: bool = True
    faults: list[str] = field(default_factory=list)


def sweep(*, context: SweepContext, has_time: Callable[[], bool]) -> SweepReport:
    """Handle what is due now, until it is done or *has_time* returns False; what is left is due at the next minute.

    Windows and jobs take turns, and so do banks: no backlog of one stops another.
    """
    report = SweepReport()
    jobs = deque(context.due.jobs(context.clock()))
    report.oldest_job_seconds = max((_overdue_seconds(job, context.clock()) for job in jobs), default=0)
    items = context.due.items(context.clock())
    item = next(items, None)
    while (item or jobs) and has_time():
        turn = _Turn(context.clock, context.clock() + ITEMS_TURN, has_time)
        while item and turn.has_time():
            report.oldest_seconds = max(report.oldest_seconds, _overdue_seconds(item, context.clock()))
            _try_item(item, context, report, turn.has_time)
            item = next(items, None)
        if jobs and has_time():
            _take_job(jobs, context, report, has_time)
    report.is_complete = not (item or jobs)
    return report


@dataclass(slots=True)
class _Turn:
    """A share of a sweep's time; *is_over* once `has_time` has returned False."""

    clock: Callable[[], datetime]
    end: datetime
    sweep_has_time: Callable[[], bool]
    is_over: bool = False

    def has_time(self) -> bool:
        self.is_over = self.is_over or self.clock() >= self.end or not self.sweep_has_time()
        return not self.is_over


def _take_job(jobs: deque[DueItem], context: SweepContext, report: SweepReport, has_time: Callable[[], bool]) -> None:
    """Work on the first of *jobs* for its turn; if the turn ends before the job, its next turn is the last."""
    job, turn = jobs.popleft(), _Turn(context.clock, context.clock() + JOB_TURN, has_time)
    if _try_item(job, context, report, turn.has_time) and turn.is_over:
        jobs.append(job)


def _try_item(item: DueItem, context: SweepContext, report: SweepReport, has_time: Callable[[], bool]) -> bool:
    """Handle *item* and tell whether that succeeded; one item that cannot be handled stops no other."""
    report.seen += 1
    try:
        _handle(item, context, report, has_time)
    except Conflict:
        return False  # another process has handled it; if not, it is due again in a minute
    except Exception as fault:  # noqa: BLE001  its type is reported, and it stays due
        report.faults.append(f"{item.kind} {type(fault).__name__}")
        return False
    return True


def _overdue_seconds(item: DueItem, now: datetime) -> int:
    return int((now - item.due).total_seconds()) if item.due else 0


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
    if head is None or head.is_moving:
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
        finish(window, windows=context.windows, now=context.clock(), retention_policy=context.retention_policy)
        return
    _sweep_pending(window, context, report)


def _sweep_pending(window: Window, context: SweepContext, report: SweepReport) -> None:
    now = context.clock()
    age_seconds = int((now - window.sealed).total_seconds())
    is_suspended = window.is_suspension_complete
    if not is_suspended and now - window.sealed >= LONG_WAIT:
        is_suspended = context.windows.suspend_expiry(window)
    outcome = start(window, windows=context.windows, executions=context.executions)
    if outcome is StartOutcome.WAITING:
        context.windows.wait(window, None if is_suspended else window.sealed + LONG_WAIT)
        return
    report.oldest_pending_seconds = max(report.oldest_pending_seconds, age_seconds)
    error = context.executions.error_of(attempt_of(window)) if outcome is StartOutcome.ALREADY_STARTED else None
    if error is not None:
        fail_context = FailContext(context.windows, now, context.jitter)
        failure = fail_window(window, outcome_of_death(error), context=fail_context)
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


def _resume_move(item: DueItem, context: SweepContext, has_time: Callable[[], bool]) -> None:
    move.resume(item.bank, item.name, item.move, context=replace(context.move_context, has_time=has_time))


def _resume_export(item: DueItem, context: SweepContext, has_time: Callable[[], bool]) -> None:
    export.resume(item.bank, context=replace(context.export_context(JOB_TURN), has_time=has_time))


def _resume_import(item: DueItem, context: SweepContext, has_time: Callable[[], bool]) -> None:
    with suppress(BudgetPaused):  # it goes on when the bank has tokens again
        import_job.resume(item.bank, context=replace(context.import_context(JOB_TURN), has_time=has_time))


def _resume_reindex(item: DueItem, context: SweepContext, has_time: Callable[[], bool]) -> None:
    reindex.resume(item.bank, context=replace(context.reindex_context(JOB_TURN), has_time=has_time))


def _resume_index(item: DueItem, context: SweepContext, has_time: Callable[[], bool]) -> None:
    index_scope.resume(item.bank, item.name, context=replace(context.index_context(JOB_TURN), has_time=has_time))


def _resume_policy(item: DueItem, context: SweepContext, has_time: Callable[[], bool]) -> None:
    policy_job.resume(item.bank, context=replace(context.policy_context(JOB_TURN), has_time=has_time))


def _restart_replay(item: DueItem, context: SweepContext, _has_time: Callable[[], bool]) -> None:
    operation = OperationId(item.name, item.window) if item.name else None
    start_replay.restart(item.bank, operation, context=context.replay_context)


_LONG_WORK: Mapping[DueKind, Callable[[DueItem, SweepContext, Callable[[], bool]], None]] = {
    DueKind.BANK: _delete_bank,
    DueKind.ERASURE: _resume_erasure,
    DueKind.MOVE: _resume_move,
    DueKind.EXPORT: _resume_export,
    DueKind.IMPORT: _resume_import,
    DueKind.POLICY: _resume_policy,
    DueKind.REINDEX: _resume_reindex,
    DueKind.REPLAY: _restart_replay,
    DueKind.INDEX: _resume_index,
}
