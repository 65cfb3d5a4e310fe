"""Sealed windows: their events, and the attempts to generate them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from streambank.errors import Conflict, OutOfReach
from streambank.model.event import KeyedEvent, StoredEvent
from streambank.model.window import Attempt, Window, WindowState
from streambank.store import codec, keys
from streambank.store.actions import Action, Condition, ConditionCheck, Put, Update, absent, equals, present
from streambank.store.attributes import milliseconds, seconds
from streambank.store.keys import Key
from streambank.store.streams import RetentionPolicy
from streambank.store.table import Table

# A processed window's events are kept at least this long, also when they are older than their retention.
_MIN_KEPT = timedelta(days=1)


def key_of(window: Window) -> Key:
    return keys.window(window.stream.bank, window.stream.sid, window.number)


def is_current_attempt(attempt: int) -> Condition:
    """The window is pending at this attempt: the fence of every write of a generation."""
    return equals(st=WindowState.SEALED, att=attempt)


class Windows:
    """The access patterns of `W#`, `P#` and of `B#` once it is sealed."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self, bank: str, sid: str, number: int) -> Window | None:
        """Return a sealed window, or None."""
        item = self._table.get(keys.window(bank, sid, number))
        return codec.window_of(item) if item else None

    def newest_first(self, bank: str, sid: str, *, before: int | None = None) -> Iterator[Window]:
        """Yield the sealed windows of a stream, the newest first, from the one before *before* on."""
        key = keys.window(bank, sid, 0)
        last = keys.window(bank, sid, keys.LAST_NUMBER if before is None else before - 1)
        items = self._table.query(key.pk, between=(key.sk, last.sk), backward=True, page=100)
        return map(codec.window_of, items)

    def claim(self, attempt: Attempt, *, now: datetime) -> Window | None:
        """Record that *attempt* has begun and return its window, or None if it is not the current attempt any more."""
        update = Update(
            window_key(attempt),
            {"beg": milliseconds(now), "new": None, "perr": None},
            is_current_attempt(attempt.attempt),
        )
        try:
            item = self._table.write(update)
        except Conflict:
            return None
        return codec.window_of(item) if item else None

    def get_if_current(self, attempt: Attempt) -> Window | None:
        """Return the window of *attempt*, or None if it is not the current attempt any more."""
        window = self.get(attempt.bank, attempt.sid, attempt.window)
        is_current = window and window.state is WindowState.SEALED and window.attempt == attempt.attempt
        return window if is_current else None

    def note_provider_error(self, attempt: Attempt, text: str) -> None:
        """Store the provider's code of the failure of *attempt*, unless the attempt is not current any more."""
        update = Update(window_key(attempt), {"perr": text or None}, is_current_attempt(attempt.attempt))
        with contextlib.suppress(Conflict):
            self._table.write(update)

    # ---- events

    def events(self, window: Window) -> list[StoredEvent]:
        """Return the events of *window* in order of their numbers."""
        return [event for item in self._batches(window) for event in codec.batch_events(item)]

    def _batches(self, window: Window) -> Iterator[dict[str, object]]:
        if window.last_seq < window.first_seq:
            return iter(())
        bank, sid = window.stream.bank, window.stream.sid
        ends = (keys.batch(bank, sid, window.first_seq), keys.batch(bank, sid, window.last_seq))
        return self._table.query(ends[0].pk, between=(ends[0].sk, ends[1].sk))

    def live_events(self, bank: str, sid: str, first: int, last: int, *, now: datetime) -> list[StoredEvent]:
        """Return the stored events of a stream from number *first* to *last* that have not expired (I9)."""
        ends = (keys.batch(bank, sid, 1), keys.batch(bank, sid, last))
        batches: list[dict[str, Any]] = []
        if first <= last:
            for item in self._table.query(
                ends[0].pk, between=(ends[0].sk, ends[1].sk), backward=True, page=min(last - first + 1, 25)
            ):
                batches.append(item)
                if item["seq"] <= first:
                    break
        live = (item for item in reversed(batches) if item.get("ttl") is None or item["ttl"] > now.timestamp())
        return [event for item in live for event in codec.batch_events(item) if first <= event.seq <= last]

    def overlap(self, window: Window) -> list[StoredEvent]:
        """Return the last events before *window*, as many as its rule's overlap, whatever their windows' state."""
        count = window.rule.overlap if window.rule else 0
        if not count or window.first_seq <= 1:
            return []
        bank, sid = window.stream.bank, window.stream.sid
        ends = (keys.batch(bank, sid, 1), keys.batch(bank, sid, window.first_seq - 1))
        events: list[StoredEvent] = []
        for item in self._table.query(ends[0].pk, between=(ends[0].sk, ends[1].sk), backward=True, page=25):
            events = codec.batch_events(item) + events
            if len(events) >= count:
                break
        return events[-count:]

    def suspend_expiry(self, window: Window) -> bool:
        """Suspend the expiry of *window*'s events and of the results of its generation until it is done (I6).

        Mark the window first, so that whoever finishes it restores their expiry; once it has ended, none is suspended
        any more. False if it has ended or another attempt is current.
        """
        is_current = is_current_attempt(window.attempt)
        if not window.is_expiry_suspended and not self._change(window, {"held": codec.SUSPENDING}, is_current):
            return False
        events = () if window.is_suspension_complete else self._batches(window)
        items = [item for item in (*events, *self._results(window)) if "ttl" in item]
        is_complete = all(self._suspend_item(window, keys.key_of(item)) for item in items)
        return is_complete and self._change(window, {"held": codec.SUSPENDED}, is_current)

    def _suspend_item(self, window: Window, key: Key) -> bool:
        """Remove an item's expiry unless it is gone; False if the window has ended or another attempt is current."""
        check = ConditionCheck(key_of(window), is_current_attempt(window.attempt))
        try:
            self._table.transact_despite_contention([check, Update(key, {"ttl": None}, present())])
        except Conflict as conflict:
            return not conflict.failed(0)
        return True

    def _results(self, window: Window) -> Iterator[dict[str, object]]:
        prefix = keys.results(window.stream.bank, window.stream.sid, window.number)
        return self._table.query(prefix.pk, prefix=prefix.sk)

    def restore_expiry(self, window: Window, *, now: datetime, retention_policy: RetentionPolicy) -> None:
        """Restore what `suspend_expiry` suspended for *window*, and remove the window from index `due`."""
        until = seconds(max(window.last_arrival + retention_policy.retention, now + _MIN_KEPT))
        for item in self._batches(window):
            self._set_expiry(keys.key_of(item), until)
        results_until = seconds(retention_policy.of_results(replace(window, is_expiry_suspended=False), now=now))
        for item in self._results(window):
            self._set_expiry(keys.key_of(item), results_until)
        self._change(window, {"held": None, **codec.due_values(key_of(window), None)}, equals(st=window.state))

    def _set_expiry(self, key: Key, until: int | None) -> None:
        try:
            self._table.write(Update(key, {"ttl": until}, present()))
        except Conflict:
            return  # it expired since the query, which only a processed window's events do

    # ---- the order of a stream's windows

    def wait(self, window: Window, due: datetime | None) -> bool:
        """Let *window* wait for the one before it, off index `due` or on it at *due*: one transaction.

        The window before it is marked, so that its end makes this one due. False if either changed meanwhile.
        """
        before = keys.window(window.stream.bank, window.stream.sid, window.number - 1)
        mark = Update(before, {"nxt": 1}, equals(st=WindowState.SEALED))
        wait = Update(key_of(window), codec.due_values(key_of(window), due), is_current_attempt(window.attempt))
        try:
            self._table.transact_despite_contention([mark, wait])
        except Conflict:
            return False
        return True

    def make_next_due(self, window: Window, now: datetime) -> None:
        """Make the window after *window* due at *now*, if it is pending."""
        make_due(self._table, keys.window(window.stream.bank, window.stream.sid, window.number + 1), now)

    def disarm(self, window: Window) -> None:
        """Take an ended *window* off index `due`, unless it changed meanwhile."""
        values: codec.Values = {"nxt": None, **codec.due_values(key_of(window), None)}
        self._change(window, values, equals(st=window.state, att=window.attempt))

    # ---- missing events

    def record_gap(self, window: Window) -> None:
        """Record in the stream's head that events of *window* are missing: ingest restores those that come again.

        Raises:
            OutOfReach: the head was written at every try.
        """
        key = keys.head(window.stream.bank, window.stream.sid)
        for _ in self._table.retry_policy.attempts():
            head = self._table.get(key)
            if head is None or "gap" in head:  # a direct generation has no head
                return
            try:
                self._table.write(Update(key, {"gap": 1, "ver": head["ver"] + 1}, equals(ver=head["ver"])))
            except Conflict:
                continue
            return
        raise OutOfReach(Conflict.CONTENDED)

    def restore_events(self, window: Window, events: Mapping[int, KeyedEvent]) -> None:
        """Store missing events of a parked *window* again under their numbers: one transaction.

        They arrived with the window. They get no expiry, as it is suspended until the window is done.

        Raises:
            Conflict: the window or its events changed meanwhile.
        """
        bank, sid = window.stream.bank, window.stream.sid
        is_parked = equals(st=WindowState.PARKED, att=window.attempt)
        actions: list[Action] = [ConditionCheck(key_of(window), is_parked)]
        for seq, keyed in events.items():
            values = codec.batch_values([keyed], seq, window.number, window.last_arrival)
            actions.append(Put(keys.batch(bank, sid, seq), values, absent()))
        self._table.transact(actions)

    # ---- attempts

    def rearm(self, window: Window, due: datetime) -> bool:
        """Set when *window* is due next; False if it changed meanwhile."""
        return self._change(window, codec.due_values(key_of(window), due), equals(st=window.state, att=window.attempt))

    def record_failure(
        self, window: Window, *, failure: str, failures: int, due: datetime | None, now: datetime
    ) -> bool:
        """Record a failure of the current attempt; without *due* the window is parked. False if it changed meanwhile.

        The expiry of its events must be suspended. A parked window is due at once, so that the sweep finishes it.
        """
        state = WindowState.SEALED if due else WindowState.PARKED
        values: codec.Values = {
            "st": state,
            "att": window.attempt + 1,
            "tries": failures,
            "fail": failure,
            "held": codec.SUSPENDED,
            "beg": None,
            "end": None if due else milliseconds(now),
            **codec.due_values(key_of(window), due or now),
        }
        return self._change(window, values, is_current_attempt(window.attempt))

    def redrive(self, window: Window, *, due: datetime) -> Window | None:
        """Make a parked *window* pending again and return it; None if it changed meanwhile."""
        values: codec.Values = {
            "st": WindowState.SEALED,
            "att": window.attempt + 1,
            "tries": 0,
            "end": None,
            **codec.due_values(key_of(window), due),
        }
        condition = equals(st=WindowState.PARKED, att=window.attempt)
        if not self._change(window, values, condition):
            return None
        return replace(window, state=WindowState.SEALED, attempt=window.attempt + 1, failures=0, due=due, ended=None)

    def _change(self, window: Window, values: codec.Values, condition: Condition) -> bool:
        try:
            self._table.write(Update(key_of(window), values, condition))
        except Conflict:
            return False
        return True


def window_key(attempt: Attempt) -> Key:
    return keys.window(attempt.bank, attempt.sid, attempt.window)


def make_due(table: Table, key: Key, now: datetime) -> None:
    """Make the window under *key* due at *now*, if it is pending: it may wait off index `due` for one that ended."""
    with contextlib.suppress(Conflict):
        table.write(Update(key, codec.due_values(key, now), equals(st=WindowState.SEALED)))
