"""Starting replays: a call begins one, and the state machine does it, since a model takes longer than a call may.

The sweep starts a run again that ended before its replay did.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from streambank.errors import EventsMissing, FailedPrecondition
from streambank.model.ids import OperationId
from streambank.model.replay import Replay, ReplaySpec
from streambank.model.window import Window, WindowState
from streambank.pipeline.generation.operations import OperationContext, get_operation
from streambank.pipeline.generation.replay_window import has_record, live_events
from streambank.pipeline.jobs import job
from streambank.pipeline.jobs.job import JobContext
from streambank.store.executions import Executions
from streambank.store.replays import Replays

# A replay ends after so many runs without progress.
MAX_IDLE_RUNS = 3
INTERRUPTED = "INTERRUPTED"
# How often the sweep looks whether the execution of a run is under way.
RECHECK_AFTER = timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class StartReplayContext(JobContext):
    """What the start of a replay needs."""

    replays: Replays
    operations: OperationContext
    executions: Executions


def start_window_replay(bank: str, operation: OperationId, spec: ReplaySpec, *, context: StartReplayContext) -> Replay:
    """Start the replay of a window and return it, or the one under way.

    Raises:
        NotFound: there is no such operation.
        FailedPrecondition: it was not generated here, or its events have expired.
        Unavailable: a replay of it with another request is under way, or its scope is written at the same time.
    """
    current = get_operation(bank, operation, context=context.operations)
    window = current.window
    if window is None or window.state is not WindowState.DONE:
        raise FailedPrecondition(f"{operation} is {current.state}; only a window that was generated is replayed")
    if not has_record(window):
        raise FailedPrecondition(f"{operation} was imported without its verdicts; there is nothing to compare with")
    try:
        live_events(window, context.operations.windows, now=context.clock())
    except EventsMissing as error:
        raise FailedPrecondition(f"{operation} cannot be replayed: {error}") from error
    return _start(bank, window, spec, context)


def start_bank_replay(bank: str, spec: ReplaySpec, *, context: StartReplayContext) -> Replay:
    """Start a replay of a bank's newest windows and return it, or the one under way. Raises as the other one does."""
    return _start(bank, None, spec, context)


def _start(bank: str, window: Window | None, spec: ReplaySpec, context: StartReplayContext) -> Replay:
    begun = job.begin(lambda: context.replays.begin(bank, window, spec, now=context.clock()), "replay", context=context)
    job.check_request(begun, spec, "replay")
    context.executions.start_replay(begun)
    return begun


def restart(bank: str, operation: OperationId | None, *, context: StartReplayContext) -> None:
    """See to it that a run of a replay is under way; a replay whose runs do nothing ends as interrupted.

    Raises:
        Conflict: another process has handled it.
    """
    replay = context.replays.find(bank, operation, now=context.clock())
    if replay is None or replay.ended:
        return
    if not context.executions.start_replay(replay) and not context.executions.is_replay_running(replay):
        if replay.idle_runs >= MAX_IDLE_RUNS:
            context.replays.finish(replay, INTERRUPTED, now=context.clock())
            return
        replay = context.replays.start_run(replay, now=context.clock())
        context.executions.start_replay(replay)
    context.replays.rearm(replay, now=context.clock(), after=RECHECK_AFTER)
