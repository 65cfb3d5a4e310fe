"""Erasing one stream up to its cut, in batches: windows are fenced first, then what they hold is deleted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from streambank.errors import Conflict, Unavailable
from streambank.model.erasure import Cut, Erasure
from streambank.model.window import Window
from streambank.retry import RetryPolicy
from streambank.rules.batches import batches
from streambank.store.cuts import MOST_UPDATES, Cuts
from streambank.store.keys import Key
from streambank.store.streams import RetentionPolicy
from streambank.store.table import BATCH_DELETES

CONTENDED = "it is written by others at the same time; try again"
CountingStep = Callable[[Counter[str]], None]


@dataclass(frozen=True, slots=True)
class StreamErasure:
    """One stream that an erasure has cut; `steps` go on where an earlier run stopped."""

    erasure: Erasure
    sid: str
    cut: Cut
    cuts: Cuts
    retention_policy: RetentionPolicy
    retry_policy: RetryPolicy
    clock: Callable[[], datetime]

    def steps(self) -> Iterator[CountingStep]:
        """Yield a step for each batch. Nothing is deleted before every window up to the cut is fenced."""
        of_stream = self.erasure.bank, self.sid, self.cut
        for windows in batches(self.cuts.unfenced(*of_stream), MOST_UPDATES):
            yield partial(self._fence, windows)
        for events in batches(self.cuts.events(*of_stream), BATCH_DELETES):
            yield partial(self._delete_events, events)
        for results in batches(self.cuts.results(*of_stream), BATCH_DELETES):
            yield partial(self._delete_results, results)
        for markers in batches(self.cuts.fingerprints(*of_stream), MOST_UPDATES):
            yield partial(self._remove_fingerprints, markers)
        yield self._finish

    def _fence(self, windows: Sequence[Window], counts: Counter[str]) -> None:
        current, last = list(windows), windows[-1].number
        for _ in self._attempts():
            try:
                now = self.clock()
                expires = partial(self.retention_policy.of_operation, now=now)
                self.cuts.fence(self.erasure, self.sid, current, last, expires=expires, now=now)
            except Conflict as conflict:
                _check_own_cut(conflict)
                current = self.cuts.read_again(current)
                continue
            counts["windows"] += len(current)
            return

    def _delete_events(self, batch: Sequence[tuple[Key, int]], counts: Counter[str]) -> None:
        self.cuts.delete([key for key, _ in batch])
        counts["events"] += sum(number for _, number in batch)

    def _delete_results(self, batch: Sequence[Key], counts: Counter[str]) -> None:
        self.cuts.delete(batch)
        counts["results"] += len(batch)

    def _remove_fingerprints(self, batch: Sequence[Key], counts: Counter[str]) -> None:
        for _ in self._attempts():
            try:
                counts["eventFingerprints"] += self.cuts.remove_fingerprints(self.erasure, self.sid, self.cut, batch)
            except Conflict as conflict:
                _check_own_cut(conflict)
                continue
            return

    def _finish(self, counts: Counter[str]) -> None:
        self.cuts.make_next_due(self.erasure.bank, self.sid, self.cut, now=self.clock())
        self.cuts.finish(self.erasure, self.sid)
        counts["streams"] += 1

    def _attempts(self) -> Iterator[int]:
        yield from self.retry_policy.attempts()
        raise Unavailable(CONTENDED)


def _check_own_cut(conflict: Conflict) -> None:
    """Raise *conflict* if the cut is not this erasure's any more: then nothing is left to be done."""
    if conflict.failed(0):
        raise conflict
