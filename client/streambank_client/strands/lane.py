"""One store's saves: one at a time, in a thread that lives as long as there is something to save."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field

from streambank_client.strands import threads
from streambank_client.strands.backoff import Backoff
from streambank_client.strands.cursor import Cursor, Said
from streambank_client.strands.saving import save
from streambank_client.strands.stores import Binding

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class LaneReport:
    """What a flush did to one store's messages; *kept* of them wait for the next try, *lost* are given up."""

    store: str
    saved: int = 0
    kept: int = 0
    lost: int = 0
    error: BaseException | None = None


@dataclass(frozen=True)
class _Flush:
    saved_before: int
    done: Future[LaneReport] = field(default_factory=Future)


class Lane:
    """The cursors of one store, and the thread that saves them; what it holds is changed under its lock alone."""

    def __init__(
        self,
        binding: Binding,
        *,
        most_waiting: int,
        backoff: Backoff,
        clock: Callable[[], float],
        jitter: Callable[[], float],
    ) -> None:
        self._binding, self._most_waiting = binding, most_waiting
        self._backoff, self._clock, self._jitter = backoff, clock, jitter
        self._lock = threading.Lock()
        self._cursors: dict[Cursor, None] = {}
        self._fired: dict[Cursor, None] = {}
        self._flushes: list[_Flush] = []
        self._running = False
        self._tried: Cursor | None = None
        self._waiting = self._saved = self._lost = self._failures = 0
        self._not_before = float("-inf")

    # ---- called by agents

    def record(self, cursor: Cursor, said: Said) -> None:
        """Let *said* wait for the next save."""
        with self._lock:
            cursor.waiting.append(said)
            self._cursors[cursor] = None
            self._waiting += 1
            dropped = self._make_room()
        if dropped:
            _log.warning("memory messages dropped", extra={"store": self._binding.name, "messages": dropped})

    def _make_room(self) -> int:
        """Drop what has waited longest, but nothing that a save is at, and return how many messages that was."""
        dropped = 0
        while self._waiting - dropped > self._most_waiting:
            oldest = next((cursor for cursor in self._cursors if cursor is not self._tried), self._tried)
            dropped += oldest.drop(is_tried=oldest is self._tried) if oldest else 0
            self._forget_empty(oldest)
        self._waiting, self._lost = self._waiting - dropped, self._lost + dropped
        return dropped

    def _forget_empty(self, cursor: Cursor | None) -> None:
        if cursor is not None and not cursor:
            self._cursors.pop(cursor, None)
            self._fired.pop(cursor, None)

    def fire(self, cursor: Cursor) -> None:
        """Save the cursor's messages in the background, after a failure not before its pause is over."""
        with self._lock:
            if cursor in self._cursors:
                self._fired[cursor] = None
            self._start()

    def flush(self) -> Future[LaneReport]:
        """Save all messages, now, and tell what became of them."""
        with self._lock:
            flush = _Flush(self._saved)
            flush.done.set_running_or_notify_cancel()
            self._flushes.append(flush)
            self._start()
        return flush.done

    def unfinished(self, error: BaseException) -> LaneReport:
        """Tell how things stand while a flush still runs."""
        with self._lock:
            return self._report(self._saved, self._waiting, error)

    def _report(self, saved_before: int, kept: int, error: BaseException | None) -> LaneReport:
        # What was lost is told once.
        lost, self._lost = self._lost, 0
        return LaneReport(self._binding.name, self._saved - saved_before, kept, lost, error)

    # ---- the thread

    def _start(self) -> None:
        if self._running or not (self._flushes or self._ready()):
            return
        try:
            threads.begin(self._run, name=f"memory-{self._binding.name}")
            self._running = True
        except RuntimeError as error:
            _log.warning("memory save not begun", extra={"store": self._binding.name, "waiting": self._waiting})
            flushes, self._flushes = self._flushes, []
            self._answer(flushes, self._waiting, error)

    def _ready(self) -> bool:
        return bool(self._fired) and self._clock() >= self._not_before

    def _run(self) -> None:
        """Save until nothing is asked for any more."""
        while work := self._next():
            flushes, cursors = work
            drained = [self._drain(cursor) for cursor in cursors]
            kept, errors = sum(kept for kept, _ in drained), [error for _, error in drained if error]
            with self._lock:
                self._answer(flushes, kept, errors[-1] if errors else None)

    def _answer(self, flushes: list[_Flush], kept: int, error: BaseException | None) -> None:
        for flush in flushes:
            flush.done.set_result(self._report(flush.saved_before, kept, error))

    def _next(self) -> tuple[list[_Flush], list[Cursor]] | None:
        """Take what is asked for: a flush is all cursors, whatever the pause; None ends the thread."""
        with self._lock:
            flushes, self._flushes = self._flushes, []
            fired = list(self._fired)[:1] if self._ready() else []
            cursors = list(self._cursors) if flushes else fired
            for cursor in cursors:
                self._fired.pop(cursor, None)
            self._running = bool(flushes or cursors)
            return (flushes, cursors) if self._running else None

    def _drain(self, cursor: Cursor) -> tuple[int, BaseException | None]:
        """Save what was said until now, up to the first batch that fails; return how many are left, and why."""
        error: BaseException | None = None
        with self._lock:
            until = cursor.newest()
            self._tried = cursor
        while error is None and self._has_batch(cursor, until):
            error = self._try(cursor)
        with self._lock:
            self._tried = None
            return cursor.unsaved(until), error

    def _has_batch(self, cursor: Cursor, until: int) -> bool:
        with self._lock:
            return bool(cursor.next_batch(until))

    def _try(self, cursor: Cursor) -> BaseException | None:
        try:
            done = asyncio.run(save(self._binding, cursor))
        except BaseException as error:  # noqa: BLE001 - a thread of our own: whatever ends the save, the batch is kept
            self._failed(error)
            return error
        with self._lock:
            self._saved, self._lost = self._saved + done.saved, self._lost + done.lost
            self._failures, self._not_before = 0, float("-inf")
            self._waiting -= len(cursor.batch)
            cursor.saved()
            self._forget_empty(cursor)
        return None

    def _failed(self, error: BaseException) -> None:
        asked = getattr(error, "retry_after_seconds", None) or 0
        with self._lock:
            self._failures += 1
            pause = self._backoff.delay_seconds(self._failures, share=self._jitter(), asked_seconds=asked)
            self._not_before = self._clock() + pause
        told = {"store": self._binding.name, "failures": self._failures, "error": type(error).__name__}
        _log.warning("memory save failed", extra=told | {"pause_seconds": round(pause, 3)})
