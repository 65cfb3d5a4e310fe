"""Replays: their jobs, and what they found.

The replay of a window is one of the window's results, so that an erasure, and the deletion of its bank, deletes it with
them; what a run of it found is recorded only while it is there. The replay of a bank holds no text of users. How a
window's verdicts differ is one of that window's results, and is written only while its scope has the erasures that it
had before the window was read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from streambank.errors import Conflict
from streambank.model import ids
from streambank.model.ids import OperationId
from streambank.model.replay import KEPT, Difference, Replay, ReplaySpec
from streambank.model.window import Window
from streambank.store import codec, keys
from streambank.store import replay_items as items
from streambank.store.actions import Action, Condition, ConditionCheck, Put, Update, absent, equals, present, without
from streambank.store.attributes import milliseconds, seconds
from streambank.store.keys import Key
from streambank.store.table import Table

# When the sweep looks at a job that has recorded no progress since.
RESUMED_AFTER = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class ErasureMark:
    """The number of a scope's newest erasure when a window was read; *is_under_way* tells that it has not ended."""

    number: int | None
    is_under_way: bool


class Replays:
    """The access patterns of replays."""

    def __init__(self, table: Table) -> None:
        self._table = table

    # ---- jobs

    def find(self, bank: str, operation: OperationId | None, *, now: datetime) -> Replay | None:
        """Return the newest replay of a window, or of the bank without *operation*; None if none is kept."""
        item = self._table.get(_key(bank, operation))
        return items.replay_of(bank, operation, item) if item and _is_live(item, now) else None

    def begin(self, bank: str, window: Window | None, spec: ReplaySpec, *, now: datetime) -> Replay:
        """Start a replay of *window*, or of the bank, and return it, or the one under way.

        Raises:
            Conflict: another one was started meanwhile, or the scope of the window is being erased or moved.
        """
        operation = OperationId(window.stream.sid, window.number) if window else None
        key = _key(bank, operation)
        item = self._table.get(key)
        if item and "open" in item and _is_live(item, now):
            return items.replay_of(bank, operation, item)
        # A number is never used again, also where the item of an earlier replay has expired.
        number = max((item or {}).get("num", 0) + 1, milliseconds(now) or 1)
        begun = Replay(bank, number, now, spec, operation)
        values: codec.Values = {
            **items.job_values(begun),
            "ttl": seconds(now + KEPT),
            **codec.due_values(key, now + RESUMED_AFTER),
        }
        actions: list[Action] = [Put(key, values, equals(num=item["num"]) if item else absent())]
        if window:
            scope_key = keys.version(bank, ids.scope_id(window.stream.scope))
            actions += [
                ConditionCheck(keys.window(bank, window.stream.sid, window.number), present()),
                ConditionCheck(scope_key, without("erasing") & without("moving")),
            ]
        self._table.transact_despite_contention(actions)
        return begun

    def rearm(self, replay: Replay, *, now: datetime, after: timedelta) -> None:
        """Let the sweep look at a replay again *after* a while. Raises Conflict if it is not under way in this run."""
        key = _key(replay.bank, replay.operation)
        self._table.write(Update(key, codec.due_values(key, now + after), _is_current_run(replay)))

    def start_run(self, replay: Replay, *, now: datetime) -> Replay:
        """Fence the current run, and return the replay in its next one. Raises Conflict as `rearm` does."""
        key = _key(replay.bank, replay.operation)
        after = replace(replay, run=replay.run + 1, idle_runs=replay.idle_runs + 1)
        values: codec.Values = {
            "run": after.run,
            "idle": after.idle_runs,
            **codec.due_values(key, now + RESUMED_AFTER),
        }
        self._table.write(Update(key, values, _is_current_run(replay)))
        return after

    def record_progress(self, replay: Replay, *, now: datetime) -> Replay:
        """Record how far the replay of a bank has come. Raises Conflict as `rearm` does."""
        self._table.write(self._progress(replay, now))
        return replace(replay, idle_runs=0)

    def record_window(
        self, replay: Replay, window: Window, difference: Difference, mark: ErasureMark, *, now: datetime
    ) -> Replay:
        """Record how far the replay of a bank has come, with how a window's verdicts differ: one transaction.

        Raises:
            Conflict: the replay is not under way in this run (action 0), or the window is gone or its scope was erased.
        """
        stream = window.stream
        put = Put(
            keys.replay_difference(stream.bank, stream.sid, window.number),
            {**items.difference_values(replay, difference), "ttl": seconds(replay.started + KEPT)},
        )
        self._table.transact_despite_contention(
            [
                self._progress(replay, now),
                ConditionCheck(keys.window(stream.bank, stream.sid, window.number), present()),
                ConditionCheck(keys.version(stream.bank, ids.scope_id(stream.scope)), _has_mark(mark)),
                put,
            ]
        )
        return replace(replay, idle_runs=0)

    def finish(self, replay: Replay, failure: str | None = None, *, now: datetime) -> Replay:
        """End a replay, with the outcome that stopped it in *failure*. Raises Conflict as `rearm` does."""
        key = _key(replay.bank, replay.operation)
        values: codec.Values = {
            "open": None,
            "end": milliseconds(now),
            "fail": failure,
            **items.finished_values(replay),
            **codec.due_values(key, None),
        }
        self._table.write(Update(key, values, _is_current_run(replay)))
        return replace(replay, ended=now, failure=failure)

    def _progress(self, replay: Replay, now: datetime) -> Update:
        key = _key(replay.bank, replay.operation)
        values: codec.Values = {
            **items.progress_values(replay),
            "idle": 0,
            **codec.due_values(key, now + RESUMED_AFTER),
        }
        return Update(key, values, _is_current_run(replay))

    # ---- what a replay reads

    def erasure_mark(self, window: Window) -> ErasureMark:
        """Return which erasures the scope of *window* has had: read it before anything else of the window."""
        item = self._table.get(keys.version(window.stream.bank, ids.scope_id(window.stream.scope))) or {}
        return ErasureMark(item.get("era"), "erasing" in item or "moving" in item)

    def streams_of_scope(self, bank: str, cid: str, after: str) -> Iterator[tuple[str, str]]:
        """Yield the registry's entry and the sid of each stream of a scope behind the entry *after*."""
        prefix = keys.registered_stream(bank, cid, "")
        for item in self._table.query(prefix.pk, between=(after or prefix.sk, prefix.sk + keys.LAST)):
            if item["SK"] != after:
                yield item["SK"], item["sid"]

    def differences(self, replay: Replay, *, now: datetime) -> list[Difference]:
        """Return how the verdicts of a bank's windows differ, as far as that is kept."""
        names = replay.progress.differing
        names_by_key = {keys.replay_difference(replay.bank, one.sid, one.window): one for one in names}
        read = self._table.read(names_by_key)
        live = [(one, read[key]) for key, one in names_by_key.items() if key in read and _is_live(read[key], now)]
        return [items.difference_of(one, item) for one, item in live if item["num"] == replay.number]


def _has_mark(mark: ErasureMark) -> Condition:
    if mark.is_under_way:
        raise Conflict
    return without("erasing") & without("moving") & (without("era") if mark.number is None else equals(era=mark.number))


def _key(bank: str, operation: OperationId | None) -> Key:
    return keys.replay(bank, operation.sid, operation.window) if operation else keys.bank_replay(bank)


def _is_current_run(replay: Replay) -> Condition:
    return equals(open=replay.number, run=replay.run)


def _is_live(item: dict[str, Any], now: datetime) -> bool:
    return bool(item["ttl"] > now.timestamp())
