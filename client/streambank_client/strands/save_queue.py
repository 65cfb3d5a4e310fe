"""The save queue of one store: one save at a time, in a thread that runs while there is something to save."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field

from streambank_client.http.retry import Backoff
from streambank_client.strands import threads
from streambank_client.strands.buffer import BufferedMessage, MessageBuffer
from streambank_client.strands.saving import save_batch
from streambank_client.strands.stores import StoreBinding

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class QueueReport:
    """Numbers of one store's messages in a flush; *kept* ones wait for the next attempt, *lost* ones are given up."""

    store: str
    saved: int = 0
    kept: int = 0
    lost: int = 0
    error: BaseException | None = None


@dataclass(frozen=True)
class _Flush:
    saved_before: int
    done: Future[QueueReport] = field(default_factory=Future)


class SaveQueue:
    """The buffers of one store, and the thread that saves them; its state is changed under its lock only."""

    def __init__(
        self,
        binding: StoreBinding,
        *,
        most_waiting: int,
        backoff: Backoff,
        clock: Callable[[], float],
        jitter: Callable[[], float],
    ) -> None:
        self._binding, self._most_waiting = binding, most_waiting
        self._backoff, self._clock, self._jitter = backoff, clock, jitter
        self._lock = threading.Lock()
        self._buffers: dict[MessageBuffer, None] = {}
        self._due: dict[MessageBuffer, None] = {}
        self._flushes: list[_Flush] = []
        self._running = False
        self._saving: MessageBuffer | None = None
        self._waiting = self._saved = self._lost = self._failures = 0
        self._not_before = float("-inf")

    # ---- called by agents

    def add(self, buffer: MessageBuffer, message: BufferedMessage) -> None:
        """Add *message* to the buffer, for its next save."""
        with self._lock:
            buffer.waiting.append(message)
            self._buffers[buffer] = None
            self._waiting += 1
            dropped = self._make_room()
        if dropped:
            _log.warning("memory messages dropped", extra={"store": self._binding.name, "messages": dropped})

    def _make_room(self) -> int:
        """Drop the oldest messages, except those that are being saved, and return their number."""
        dropped = 0
        while self._waiting - dropped > self._most_waiting:
            oldest = next((buffer for buffer in self._buffers if buffer is not self._saving), self._saving)
            dropped += oldest.drop(is_saving=oldest is self._saving) if oldest else 0
            self._forget_empty(oldest)
        self._waiting, self._lost = self._waiting - dropped, self._lost + dropped
        return dropped

    def _forget_empty(self, buffer: MessageBuffer | None) -> None:
        if buffer is not None and not buffer:
            self._buffers.pop(buffer, None)
            self._due.pop(buffer, None)

    def save_soon(self, buffer: MessageBuffer) -> None:
        """Save the buffer's messages in the background, but not during the pause after a failure."""
        with self._lock:
            if buffer in self._buffers:
                self._due[buffer] = None
            self._start()

    def flush(self) -> Future[QueueReport]:
        """Save all messages now, and return the report of them."""
        with self._lock:
            flush = _Flush(self._saved)
            flush.done.set_running_or_notify_cancel()
            self._flushes.append(flush)
            self._start()
        return flush.done

    def unfinished(self, error: BaseException) -> QueueReport:
        """Return the report of a flush that still runs."""
        with self._lock:
            return self._report(self._saved, self._waiting, error)

    def _report(self, saved_before: int, kept: int, error: BaseException | None) -> QueueReport:
        # A lost message is reported once.
        lost, self._lost = self._lost, 0
        return QueueReport(self._binding.name, self._saved - saved_before, kept, lost, error)

    # ---- the thread

    def _start(self) -> None:
        if self._running or not (self._flushes or self._ready()):
            return
        try:
            threads.start(self._run, name=f"memory-{self._binding.name}")
            self._running = True
        except RuntimeError as error:
            _log.warning("memory save not begun", extra={"store": self._binding.name, "waiting": self._waiting})
            flushes, self._flushes = self._flushes, []
            self._report_to(flushes, self._waiting, error)

    def _ready(self) -> bool:
        return bool(self._due) and self._clock() >= self._not_before

    def _run(self) -> None:
        """Save until nothing is due any more."""
        while work := self._next():
            flushes, buffers = work
            drained = [self._drain(buffer) for buffer in buffers]
            kept, errors = sum(kept for kept, _ in drained), [error for _, error in drained if error]
            with self._lock:
                self._report_to(flushes, kept, errors[-1] if errors else None)

    def _report_to(self, flushes: list[_Flush], kept: int, error: BaseException | None) -> None:
        for flush in flushes:
            flush.done.set_result(self._report(flush.saved_before, kept, error))

    def _next(self) -> tuple[list[_Flush], list[MessageBuffer]] | None:
        """Return what to save: for a flush all buffers, even during a pause; None ends the thread."""
        with self._lock:
            flushes, self._flushes = self._flushes, []
            due = list(self._due)[:1] if self._ready() else []
            buffers = list(self._buffers) if flushes else due
            for buffer in buffers:
                self._due.pop(buffer, None)
            self._running = bool(flushes or buffers)
            return (flushes, buffers) if self._running else None

    def _drain(self, buffer: MessageBuffer) -> tuple[int, BaseException | None]:
        """Save the present messages, up to the first batch that fails; return how many are left, and the error."""
        error: BaseException | None = None
        with self._lock:
            until = buffer.newest()
            self._saving = buffer
        while error is None and self._has_batch(buffer, until):
            error = self._save(buffer)
        with self._lock:
            self._saving = None
            return buffer.unsaved(until), error

    def _has_batch(self, buffer: MessageBuffer, until: int) -> bool:
        with self._lock:
            return bool(buffer.next_batch(until))

    def _save(self, buffer: MessageBuffer) -> BaseException | None:
        try:
            outcome = asyncio.run(save_batch(self._binding, buffer))
        except BaseException as error:  # noqa: BLE001 - the thread is the queue's own: after any error the batch is kept
            self._failed(error)
            return error
        with self._lock:
            self._saved, self._lost = self._saved + outcome.saved, self._lost + outcome.lost
            self._failures, self._not_before = 0, float("-inf")
            self._waiting -= len(buffer.batch)
            buffer.clear_batch()
            self._forget_empty(buffer)
        return None

    def _failed(self, error: BaseException) -> None:
        requested = getattr(error, "retry_after_seconds", None) or 0
        with self._lock:
            self._failures += 1
            pause = self._backoff.delay_seconds(self._failures, share=self._jitter(), requested_seconds=requested)
            self._not_before = self._clock() + pause
        fields = {"store": self._binding.name, "failures": self._failures, "error": type(error).__name__}
        _log.warning("memory save failed", extra=fields | {"pause_seconds": round(pause, 3)})
