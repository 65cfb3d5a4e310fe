"""The jobs of exports and imports: one of each kind at a time in a bank, worked on by one run after the other.

A run records its progress under its own number. Whoever claims the job raises the number first, so that an earlier run
that is still alive can record nothing more. The objects that it may still write have its number in their names: nobody
reads them.
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

# When the sweep resumes a job that has recorded no progress since.
RESUMED_AFTER = timedelta(minutes=1)


class Transfers:
    """The access patterns of `EXPORT` and `IMPORT`."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def find(self, bank: str, direction: Direction) -> Transfer | None:
        """Return the newest job of a kind, or None if there never was one."""
        item = self._table.get(_key(bank, direction))
        return _transfer(bank, direction, item) if item else None

    def begin(self, bank: str, direction: Direction, request: TransferSpec, *, now: datetime) -> Transfer:
        """Start a job and return it, or the one under way.

        Raises:
            Conflict: another job was started meanwhile.
            Unavailable: the bank is being erased.
        """
        key = _key(bank, direction)
        items = self._table.read([key, keys.bank_erasure(bank)])
        item, erasure = items.get(key), items.get(keys.bank_erasure(bank), {})
        if item and "open" in item:
            return _transfer(bank, direction, item)
        if "erasing" in erasure:
            raise Unavailable("the bank is being erased; try again")
        number = (item or {}).get("num", 0) + 1
        transfer = Transfer(bank, direction, number, now, request, erasure_number=erasure.get("era", 0))
        condition: Condition = equals(num=item["num"]) if item else absent()
        self._table.write(Put(key, _values(transfer, now), condition))
        return transfer

    def claim(self, transfer: Transfer, *, now: datetime) -> Transfer:
        """Start a new run of a job and return the job. Raises Conflict if another run was started, or it has ended."""
        key = _key(transfer.bank, transfer.direction)
        values = {"run": transfer.run + 1, **codec.due_values(key, now + RESUMED_AFTER)}
        self._table.write(Update(key, values, _is_current_run(transfer)))
        return replace(transfer, run=transfer.run + 1)

    def record_progress(
        self,
        transfer: Transfer,
        cursor: tuple[str | int, ...],
        counts: Mapping[str, int],
        *,
        has_part: bool = False,
        now: datetime,
    ) -> Transfer:
        """Record how far a job has come and return it. Raises Conflict if another run was started, or it has ended."""
        summed = {kind: count for kind, count in (Counter(transfer.counts) + Counter(counts)).items() if count}
        runs = transfer.with_part() if has_part else transfer.runs
        key, after = _key(transfer.bank, transfer.direction), replace(transfer, cursor=cursor, counts=summed, runs=runs)
        values = {**_progress(after), **codec.due_values(key, now + RESUMED_AFTER)}
        self._table.write(Update(key, values, _is_current_run(transfer)))
        return after

    def finish(self, transfer: Transfer, failure: str | None = None, *, now: datetime) -> Transfer:
        """End a job, with the reason in *failure* where it failed. Raises as `record_progress` does."""
        key = _key(transfer.bank, transfer.direction)
        values = {"open": None, "end": milliseconds(now), "fail": failure, **codec.due_values(key, None)}
        self._table.write(Update(key, values, _is_current_run(transfer)))
        return replace(transfer, ended=now, failure=failure)


def _key(bank: str, direction: Direction) -> Key:
    return keys.bank_job(bank, direction)


def _is_current_run(transfer: Transfer) -> Condition:
    return equals(open=transfer.number, run=transfer.run)


def _values(transfer: Transfer, now: datetime) -> codec.Values:
    request = transfer.request
    ask = [request.scope and dict(request.scope), request.user_id, list(request.conversation_ids), request.source]
    return {
        "num": transfer.number,
        "open": transfer.number,
        "beg": milliseconds(transfer.started),
        "ask": text.dumps(ask),
        "run": transfer.run,
        "era": transfer.erasure_number,
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
        erasure_number=item["era"],
        ended=instant(item.get("end")),
        failure=item.get("fail"),
    )
