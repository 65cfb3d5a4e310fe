"""Erasing a stream: where it is cut, and the writes that delete what is up to the cut, a batch at a time.

The stream's `CUT` says how far its erasure has come, so a run that dies is repeated from its last batch. Progress is
only written while the cut is the erasure's own: nothing of it comes back after the deletion of the bank.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from streambank.model.erasure import Cut, Erasure
from streambank.model.stream import Head
from streambank.model.window import Window, WindowState
from streambank.store import codec, keys
from streambank.store.actions import (
    Action,
    Condition,
    ConditionCheck,
    Delete,
    Put,
    Update,
    absent,
    equals,
    present,
    without,
)
from streambank.store.erasure_items import erased_values
from streambank.store.keys import Key, Kind
from streambank.store.table import Table
from streambank.store.windows import key_of, make_due

# TransactWriteItems takes 100 actions, and one of them writes the progress.
MOST_UPDATES = 99


class Cuts:
    """The access patterns of `CUT`, and of what an erasure deletes in a stream."""

    def __init__(self, table: Table) -> None:
        self._table = table

    # ---- where streams are cut

    def of_streams(self, bank: str, sids: Iterable[str]) -> dict[str, Cut]:
        """Return the newest cuts of those of *sids* that were ever cut. Cost: a round trip for each hundred."""
        items = self._table.read(keys.cut(bank, sid) for sid in sids)
        return {keys.owner(key.pk)[1]: cut_of(item) for key, item in items.items()}

    def create(
        self,
        erasure: Erasure,
        before: Head,
        after: Head,
        closed: Window | None,
        *,
        last: Cut | None,
        expires: datetime | None,
    ) -> Cut:
        """Replace the head *before* by *after*, and store its open window as erased: one transaction.

        What the cut before, *last*, covered is erased already. An imported stream is none of its import's any more: the
        same import brings nothing back to it.

        Raises:
            Conflict: the stream was written meanwhile, or the erasure takes no more streams.
        """
        bank, sid = erasure.bank, before.stream.sid
        cut = Cut(erasure.number, before.seq, after.window - 1, fenced=erased_windows(last))
        head_values = codec.head_values(replace(after, version=before.version + 1))
        actions: list[Action] = [Put(keys.head(bank, sid), head_values, equals(ver=before.version))]
        if closed:
            values = codec.window_values(closed) | {"new": None, **erased_values(closed, erasure.started, expires)}
            actions.append(Put(key_of(closed), values, absent()))
        actions += [Put(keys.cut(bank, sid), _cut_values(cut)), Delete(keys.stream_import(bank, sid))]
        self._table.transact([*actions, _takes_streams(erasure)])
        return cut

    def create_without_head(self, erasure: Erasure, sid: str, *, last: Cut | None) -> Cut | None:
        """Cut a stream of one window without a head; None if the window is newer than the erasure, or gone.

        Raises:
            Conflict: the window went, another run has cut the stream meanwhile, or the erasure takes no more streams.
        """
        window_key = keys.window(erasure.bank, sid, 1)
        item = self._table.get(window_key)
        if item is None or codec.window_of(item).sealed > erasure.started:
            return None
        cut = Cut(erasure.number, keys.LAST_NUMBER, 1)
        unchanged = equals(era=last.erasure) if last else absent()
        put = Put(keys.cut(erasure.bank, sid), _cut_values(cut), unchanged)
        self._table.transact([put, ConditionCheck(window_key, present()), _takes_streams(erasure)])
        return cut

    # ---- windows

    def unfenced(self, bank: str, sid: str, cut: Cut) -> Iterator[Window]:
        """Yield the windows of a stream up to *cut* that may still store something."""
        ends = keys.window(bank, sid, cut.fenced + 1), keys.window(bank, sid, cut.window)
        if cut.fenced < cut.window:
            yield from map(codec.window_of, self._table.query(ends[0].pk, between=(ends[0].sk, ends[1].sk)))

    def read_again(self, windows: Sequence[Window]) -> list[Window]:
        """Return *windows* as they are now, without those that are gone. Cost: one round trip."""
        return [codec.window_of(item) for item in self._table.read(map(key_of, windows)).values()]

    def fence(
        self,
        erasure: Erasure,
        sid: str,
        windows: Sequence[Window],
        last: int,
        *,
        expires: Callable[[Window], datetime],
        now: datetime,
    ) -> None:
        """Let pending ones of *windows* become ERASED, and delete what callers wrote in any: one transaction.

        The windows up to number *last* are fenced then. At most `MOST_UPDATES` windows.

        Raises:
            Conflict: the cut is not this erasure's (action 0), or a window changed meanwhile.
        """
        updates = [_fence_update(window, expires(window), now) for window in windows if not _is_fenced(window)]
        self._advance(erasure, sid, {"fen": last}, updates)

    def make_next_due(self, bank: str, sid: str, cut: Cut, *, now: datetime) -> None:
        """Make the window after *cut* due if it is pending: it may wait off index `due` for an erased one."""
        make_due(self._table, keys.window(bank, sid, cut.window + 1), now)

    # ---- events, results, fingerprints

    def events(self, bank: str, sid: str, cut: Cut) -> Iterator[tuple[Key, int]]:
        """Yield the keys of a stream's batches up to *cut*, and how many events are in each."""
        first, last = keys.batch(bank, sid, 0), keys.batch(bank, sid, cut.seq)
        items = self._table.query(first.pk, between=(first.sk, last.sk))
        return ((keys.key_of(item), item["n"]) for item in items)

    def results(self, bank: str, sid: str, cut: Cut) -> Iterator[Key]:
        """Yield the keys of what was derived from the windows of a stream up to *cut*."""
        first, last = keys.results(bank, sid, 0), keys.results(bank, sid, cut.window + 1)
        return map(keys.key_of, self._table.query(first.pk, between=(first.sk, last.sk)))

    def delete(self, batch: Sequence[Key]) -> None:
        """Delete events or results."""
        self._table.delete_all(batch)

    def fingerprints(self, bank: str, sid: str, cut: Cut) -> Iterator[Key]:
        """Yield the keys of a stream's markers up to *cut* that still have the fingerprint of a content."""
        ends = cut.marker or Kind.MARKER.prefix, Kind.MARKER.prefix + keys.LAST
        items = self._table.query(keys.stream(bank, sid), between=ends)
        return (keys.key_of(item) for item in items if _has_fingerprint(item, cut))

    def remove_fingerprints(self, erasure: Erasure, sid: str, cut: Cut, batch: Sequence[Key]) -> int:
        """Remove the fingerprints of at most `MOST_UPDATES` markers, and return how many there were: one transaction.

        Raises:
            Conflict: the cut is not this erasure's (action 0), or a marker changed meanwhile.
        """
        items = [item for item in self._table.read(batch).values() if _has_fingerprint(item, cut)]
        updates = [Update(keys.key_of(item), {"h": None}, equals(seq=item["seq"])) for item in items]
        self._advance(erasure, sid, {"mark": batch[-1].sk}, updates)
        return len(updates)

    # ---- progress

    def finish(self, erasure: Erasure, sid: str) -> None:
        """Record that this erasure has finished a stream. Raises Conflict if the cut is not this erasure's."""
        self._advance(erasure, sid, {"done": 1, "mark": None}, [])

    def _advance(self, erasure: Erasure, sid: str, progress: codec.Values, updates: Sequence[Update]) -> None:
        own: Condition = equals(era=erasure.number)
        update = Update(keys.cut(erasure.bank, sid), progress, own)
        if updates:
            self._table.transact([update, *updates])
        else:
            self._table.write(update)


def erased_windows(cut: Cut | None) -> int:
    """Return up to which window a stream was erased at *cut*; 0 for a stream without a head.

    A window without a head may be stored again under its number, once its record has expired.
    """
    if cut is None or cut.seq == keys.LAST_NUMBER:
        return 0
    return cut.window if cut.is_done else cut.fenced


def cut_of(item: Mapping[str, Any]) -> Cut:
    return Cut(item["era"], item["seq"], item["win"], item.get("fen", 0), item.get("mark", ""), "done" in item)


def _takes_streams(erasure: Erasure) -> ConditionCheck:
    """The erasure is under way, and no caller has a reply that says that all of its streams are cut."""
    return ConditionCheck(keys.version(erasure.bank, erasure.cid), equals(erasing=erasure.number) & without("cut"))


def _cut_values(cut: Cut) -> codec.Values:
    return {"era": cut.erasure, "seq": cut.seq, "win": cut.window, "fen": cut.fenced}


def _has_fingerprint(item: Mapping[str, Any], cut: Cut) -> bool:
    return item["seq"] <= cut.seq and "h" in item


def _is_fenced(window: Window) -> bool:
    """Tell whether a window stores nothing any more, and holds nothing that a caller wrote."""
    has_texts = window.direct or window.call or window.failure or not window.settings.is_empty
    return not (has_texts or window.is_expiry_suspended or _is_pending(window))


def _is_pending(window: Window) -> bool:
    return window.state in (WindowState.SEALED, WindowState.PARKED)


def _fence_update(window: Window, expires: datetime, now: datetime) -> Update:
    values: codec.Values = {"dir": None, "call": None, "cfg": None, "fail": None, "held": None}
    if _is_pending(window):
        values = {**values, **erased_values(window, now, expires), "att": window.attempt + 1}
    return Update(key_of(window), values, equals(st=window.state, att=window.attempt))
