"""Runs of replays: a window, or a bank's newest windows, judged again with another configuration.

A run is an execution of the state machine (`start_replay`). It does a step for each window, and records its progress
with it.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice
from typing import Any

from streambank.errors import BudgetPaused, Conflict, EventsMissing, GenerationError
from streambank.model import ids
from streambank.model.ids import OperationId
from streambank.model.replay import BankProgress, Comparison, Replay, ReplayId, WindowPick
from streambank.model.window import Window, WindowState
from streambank.pipeline.generation.replay_window import (
    ReplayWindowContext,
    replay_window,
)
from streambank.pipeline.jobs import job
from streambank.pipeline.jobs.job import JobContext, Step
from streambank.rules import replays as rules
from streambank.rules.bank_config import bank_config
from streambank.store.banks import Banks
from streambank.store.replays import ErasureMark, Replays
from streambank.store.streams import Streams
from streambank.store.windows import Windows

# Streams whose newest windows are read in one step, and windows whose difference is kept.
BATCH_STREAMS = 100
MAX_DIFFERING = 100
# A bank's replay stops after so many failed windows in a row.
MAX_FAILURES = 3
BANK_GONE = "BANK_GONE"


class ReplayOutcome(StrEnum):
    """The outcomes that the state machine branches on."""

    REPLAYED = "replayed"
    MORE = "more"
    LATE = "late"


@dataclass(frozen=True, slots=True)
class ReplayContext(JobContext):
    """What a run of a replay needs; *of_window* makes what one window is judged with, now."""

    replays: Replays
    banks: Banks
    streams: Streams
    windows: Windows
    of_window: ReplayWindowContext


def run(bank: str, name: str, number: int, *, context: ReplayContext) -> str:
    """Go on with run *number* of the replay called *name* until it is done or the time is over, and return the outcome.

    Raises:
        OutOfReach: the table did not answer.
    """
    replay_id = ReplayId.parse(name)
    replay = context.replays.find(bank, replay_id.operation, now=context.clock()) if replay_id else None
    if replay is None or replay.ended or (replay.id, replay.run) != (name, number):
        return ReplayOutcome.LATE
    try:
        done = job.proceed(_run_of(replay, context), context=context)
    except Conflict:
        return ReplayOutcome.LATE
    return ReplayOutcome.REPLAYED if done.ended else ReplayOutcome.MORE


def _run_of(replay: Replay, context: ReplayContext) -> _WindowRun | _BankRun:
    return _WindowRun(replay, context) if replay.operation else _BankRun(replay, context)


@dataclass(slots=True)
class _WindowRun:
    """A run that judges one window again; *failure* is the outcome that stopped it."""

    replay: Replay
    context: ReplayContext
    failure: str | None = None

    def steps(self) -> Iterator[Step]:
        yield self._replay

    def pause(self) -> Replay:
        return self.replay

    def finish(self) -> Replay:
        return self.context.replays.finish(self.replay, self.failure, now=self.context.clock())

    def _replay(self) -> None:
        operation = self.replay.operation
        window = self.context.windows.get(self.replay.bank, operation.sid, operation.window) if operation else None
        document = self.context.banks.active_document(self.replay.bank)
        if window is None or document is None:
            self.failure = BANK_GONE if document is None else EventsMissing.outcome
            return
        config = bank_config(rules.overridden(document, window.stream.scope, self.replay.request.overrides))
        try:
            comparison = replay_window(window, config, context=_now(self.context))
        except GenerationError as error:
            self.failure = error.outcome
        else:
            self.replay = replace(self.replay, comparison=comparison)


def _now(context: ReplayContext) -> ReplayWindowContext:
    return replace(context.of_window, now=context.clock())


@dataclass(slots=True)
class _BankRun:
    """A run that chooses a bank's newest windows, and judges one a step; *failure* is the outcome that stopped it."""

    replay: Replay
    context: ReplayContext
    failure: str | None = None

    def steps(self) -> Iterator[Step]:
        while self.replay.progress.cursor is not None:
            yield self._choose
        while self.failure is None and self.replay.progress.done < len(self.replay.progress.picks):
            yield self._replay_next

    def pause(self) -> Replay:
        return self.replay  # each step is recorded already

    def finish(self) -> Replay:
        return self.context.replays.finish(self.replay, self.failure, now=self.context.clock())

    # ---- choosing windows

    def _choose(self) -> None:
        """Read the windows of the next streams, and keep the newest of all."""
        progress, most = self.replay.progress, self.replay.request.windows
        picks, cursor = list(progress.picks), progress.cursor
        streams = list(islice(self._streams(cursor or (0, "")), BATCH_STREAMS))
        for position, sid in streams:
            newest = self.context.windows.newest_first(self.replay.bank, sid)
            done = (one for one in newest if one.state is WindowState.DONE)
            picks += [_pick(one) for one in islice(done, most)]
            cursor = position
        is_last = len(streams) < BATCH_STREAMS
        newest_picks = tuple(heapq.nlargest(most, picks, key=lambda one: (one.sealed_ms, one.sid, one.window)))
        self._record(replace(progress, cursor=None if is_last else cursor, picks=newest_picks), {})

    def _streams(self, cursor: tuple[int, str]) -> Iterator[tuple[tuple[int, str], str]]:
        """Yield the streams behind *cursor*, each with its own."""
        bank, scope = self.replay.bank, self.replay.request.scope
        if scope is not None:
            for entry, sid in self.context.replays.streams_of_scope(bank, ids.scope_id(scope), cursor[1]):
                yield (0, entry), sid
            return
        for shard, entry, sid in self.context.streams.registered(bank, cursor if cursor[1] else None):
            if (shard, entry) != cursor:
                yield (shard, entry), sid

    # ---- judging windows

    def _replay_next(self) -> None:
        progress = self.replay.progress
        pick = progress.picks[progress.done]
        after = replace(progress, done=progress.done + 1)
        document = self.context.banks.active_document(self.replay.bank)
        before = self._window(pick)
        # What is erased after the mark is not stored; what was erased before it is not in the window any more.
        mark = self.context.replays.erasure_mark(before) if before else None
        window = self._window(pick) if before else None
        if document is None:
            self.failure = BANK_GONE
        elif window is None or mark is None:
            self._record(after, {"skipped": 1})
        else:
            self._replay_window(window, mark, document, after)

    def _window(self, pick: WindowPick) -> Window | None:
        return self.context.windows.get(self.replay.bank, pick.sid, pick.window)

    def _replay_window(
        self, window: Window, mark: ErasureMark, document: Mapping[str, Any], after: BankProgress
    ) -> None:
        config = bank_config(rules.overridden(document, window.stream.scope, self.replay.request.overrides))
        try:
            comparison = replay_window(window, config, context=_now(self.context))
        except EventsMissing:
            self._record(after, {"skipped": 1})
        except BudgetPaused as error:
            self.failure = error.outcome
        except GenerationError as error:
            self._record_failure(error, after)
        else:
            self._record_comparison(window, comparison, mark, replace(after, failures=0))

    def _record_comparison(
        self, window: Window, comparison: Comparison, mark: ErasureMark, after: BankProgress
    ) -> None:
        different = rules.difference(comparison, OperationId(window.stream.sid, window.number))
        counts = rules.counts(comparison, different)
        if different is None or len(after.differing) == MAX_DIFFERING:
            self._record(after, counts)
            return
        listed = self._after(replace(after, differing=(*after.differing, different.operation)), counts)
        try:
            self.replay = self.context.replays.record_window(listed, window, different, mark, now=self.context.clock())
        except Conflict as conflict:
            if conflict.failed(0):
                raise
            self._record(after, {"skipped": 1})  # its scope was erased meanwhile

    def _record_failure(self, error: GenerationError, after: BankProgress) -> None:
        """Count a window that could not be judged; the third in a row ends the replay."""
        failures = self.replay.progress.failures + 1
        self._record(replace(after, failures=failures), {"failed": 1})
        if failures >= MAX_FAILURES:
            self.failure = error.outcome

    def _record(self, progress: BankProgress, counts: Mapping[str, int]) -> None:
        after = self._after(progress, counts)
        self.replay = self.context.replays.record_progress(after, now=self.context.clock())

    def _after(self, progress: BankProgress, counts: Mapping[str, int]) -> Replay:
        summed = Counter(self.replay.counts) + Counter(counts)
        return replace(self.replay, progress=progress, counts=dict(summed))


def _pick(window: Window) -> WindowPick:
    return WindowPick(int(window.sealed.timestamp() * 1000), window.stream.sid, window.number)
