"""Exports and imports as jobs: one of each kind at a time in a bank, taken up by one run after the other.

A run books what it has done under its own number. Who takes the job up raises the number first, so that a run that was
thought dead books nothing more. The objects that it may still write have its number in their names: nobody reads them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from streambank.errors import Unavailable
from streambank.model.transfer import Direction, Transfer, TransferSpec
from streambank.store import codec, keys, text
from streambank.store.actions import Condition, Put, Update, absent, equals
from streambank.store.attributes import instant, milliseconds
from streambank.store.keys import Key
from streambank.store.table import Table

# When the sweep takes up a job that nobody has booked anything of since.
RESUMED_AFTER = timedelta(minutes=1)


class Transfers:
    """The access patterns of `EXPORT` and `IMPORT`."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def find(self, bank: str, direction: Direction) -> Transfer | None:
        """Return the newest job of a kind, or None if there never was one."""
        item = self._table.get(_key(bank, direction))
        return _transfer(bank, direction, item) if item else None

    def begin(self, bank: str, direction: Direction, wanted: TransferSpec, *, now: datetime) -> Transfer:
        """Enter a job and return it, or the one under way.

        Raises:
            Conflict: another job was entered meanwhile.
            Unavailable: the bank is being erased.
        """
        key = _key(bank, direction)
        found = self._table.read([key, keys.bank_erasure(bank)])
        item, erasure = found.get(key), found.get(keys.bank_erasure(bank), {})
        if item and "open" in item:
            return _transfer(bank, direction, item)
        if "erasing" in erasure:
            raise Unavailable("the bank is being erased; try again")
        number = (item or {}).get("num", 0) + 1
        transfer = Transfer(bank, direction, number, now, wanted, era=erasure.get("era", 0))
        condition: Condition = equals(num=item["num"]) if item else absent()
        self._table.write(Put(key, _values(transfer, now), condition))
        return transfer

    def claim(self, transfer: Transfer, *, now: datetime) -> Transfer:
        """Take a job up and return it as this run's. Raises Conflict if somebody else did, or it has ended."""
        key = _key(transfer.bank, transfer.direction)
        values = {"run": transfer.run + 1, **codec.due_values(key, now + RESUMED_AFTER)}
        self._table.write(Update(key, values, _is_mine(transfer)))
        return replace(transfer, run=transfer.run + 1)

    def book(
        self,
        transfer: Transfer,
        cursor: tuple[str | int, ...],
        counts: Mapping[str, int],
        *,
        has_part: bool = False,
        now: datetime,
    ) -> Transfer:
        """Book how far a job has come and return it. Raises Conflict if it is no longer this run's."""
        summed = {kind: count for kind, count in (Counter(transfer.counts) + Counter(counts)).items() if count}
        runs = transfer.with_part() if has_part else transfer.runs
        key, after = _key(transfer.bank, transfer.direction), replace(transfer, cursor=cursor, counts=summed, runs=runs)
        values = {**_progress(after), **codec.due_values(key, now + RESUMED_AFTER)}
        self._table.write(Update(key, values, _is_mine(transfer)))
        return after

    def finish(self, transfer: Transfer, failure: str | None = None, *, now: datetime) -> Transfer:
        """End a job, with what kept it from its end where there is a *failure*. Raises as `book` does."""
        key = _key(transfer.bank, transfer.direction)
        values = {"open": None, "end": milliseconds(now), "fail": failure, **codec.due_values(key, None)}
        self._table.write(Update(key, values, _is_mine(transfer)))
        return replace(transfer, ended=now, failure=failure)


def outcome(transfer: Transfer, transfers: Transfers) -> Transfer:
    """Return a job as it is now."""
    found = transfers.find(transfer.bank, transfer.direction)
    return found if found and found.number == transfer.number else transfer


def _key(bank: str, direction: Direction) -> Key:
    return keys.bank_transfer(bank, direction.upper())


def _is_mine(transfer: Transfer) -> Condition:
    return equals(open=transfer.number, run=transfer.run)


def _values(transfer: Transfer, now: datetime) -> codec.Values:
    wanted = transfer.wanted
    ask = [wanted.scope and dict(wanted.scope), wanted.user_id, list(wanted.conversation_ids), wanted.source]
    return {
        "num": transfer.number,
        "open": transfer.number,
        "beg": milliseconds(transfer.started),
        "ask": text.dumps(ask),
        "run": transfer.run,
        "era": transfer.era,
        **_progress(transfer),
        **codec.due_values(_key(transfer.bank, transfer.direction), now + RESUMED_AFTER),
    }


def _progress(transfer: Transfer) -> codec.Values:
    return {
        "cur": text.dumps(list(transfer.cursor)),
        "runs": text.dumps(transfer.runs),
        "man": text.dumps(dict(transfer.counts)),
    }


def _transfer(bank: str, direction: Direction, item: Mapping[str, Any]) -> Transfer:
    scope, user_id, conversations, source = json.loads(item["ask"])
    return Transfer(
        bank,
        direction,
        item["num"],
        codec.instant_of(item["beg"]),
        TransferSpec(scope, user_id, tuple(conversations), source),
        run=item["run"],
        cursor=tuple(json.loads(item["cur"])),
        runs=tuple((run, count) for run, count in json.loads(item["runs"])),
        counts=json.loads(item["man"]),
        era=item["era"],
        ended=instant(item.get("end")),
        failure=item.get("fail"),
    )
