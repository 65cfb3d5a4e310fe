"""Jobs that walk through a bank: a run records its progress under its own number, as those of transfers do."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from streambank.model.bank_walk import BankWalk, WalkCursor
from streambank.store import codec, keys, text
from streambank.store.actions import Condition, Put, Update, absent, equals
from streambank.store.attributes import instant, milliseconds
from streambank.store.keys import Key, Kind
from streambank.store.table import Table

# When the sweep resumes a job that has recorded no progress since.
RESUMED_AFTER = timedelta(minutes=1)

W = TypeVar("W", bound=BankWalk)


class BankWalks(Generic[W]):
    """The access patterns of the jobs of one kind: a bank has one under way at most."""

    def __init__(self, table: Table, kind: Kind, job: type[W]) -> None:
        self._table = table
        self._kind = kind
        self._job = job

    def find(self, bank: str) -> W | None:
        """Return the newest job of a bank, or None if there never was one."""
        item = self._table.get(self._key(bank))
        return self._job_of(bank, item) if item else None

    def begin(self, bank: str, *, now: datetime) -> W:
        """Start a job and return it, or the one under way. Raises Conflict if another job was started meanwhile."""
        key = self._key(bank)
        item = self._table.get(key)
        if item and "open" in item:
            return self._job_of(bank, item)
        job = self._job(bank, (item or {}).get("num", 0) + 1, now)
        values: codec.Values = {
            "num": job.number,
            "open": job.number,
            "beg": milliseconds(now),
            "run": job.run,
            **_progress(job),
            **codec.due_values(key, now + RESUMED_AFTER),
        }
        self._table.write(Put(key, values, equals(num=item["num"]) if item else absent()))
        return job

    def claim(self, job: W, *, now: datetime) -> W:
        """Start a new run of a job and return the job. Raises Conflict if another run was started, or it has ended."""
        key = self._key(job.bank)
        values = {"run": job.run + 1, **codec.due_values(key, now + RESUMED_AFTER)}
        self._table.write(Update(key, values, _is_current_run(job)))
        return replace(job, run=job.run + 1)

    def record_progress(self, job: W, cursor: WalkCursor | None, counts: Mapping[str, int], *, now: datetime) -> W:
        """Record how far a job has come and return it. Raises Conflict if another run was started, or it has ended."""
        key = self._key(job.bank)
        after = replace(job, cursor=cursor, counts=dict(Counter(job.counts) + Counter(counts)))
        values = {**_progress(after), **codec.due_values(key, now + RESUMED_AFTER)}
        self._table.write(Update(key, values, _is_current_run(job)))
        return after

    def finish(self, job: W, failure: str | None = None, *, now: datetime) -> W:
        """End a job, with the reason in *failure* where it failed. Raises as `record_progress` does."""
        key = self._key(job.bank)
        values = {"open": None, "end": milliseconds(now), "fail": failure, **codec.due_values(key, None)}
        self._table.write(Update(key, values, _is_current_run(job)))
        return replace(job, ended=now, failure=failure)

    def _key(self, bank: str) -> Key:
        return keys.bank_job(bank, self._kind)

    def _job_of(self, bank: str, item: Mapping[str, Any]) -> W:
        cursor = json.loads(item["cur"])
        return self._job(
            bank,
            item["num"],
            codec.instant_of(item["beg"]),
            run=item["run"],
            cursor=(cursor[0], cursor[1], cursor[2]) if cursor else None,
            counts=json.loads(item["man"]),
            ended=instant(item.get("end")),
            failure=item.get("fail"),
        )


def _is_current_run(job: BankWalk) -> Condition:
    return equals(open=job.number, run=job.run)


def _progress(job: BankWalk) -> codec.Values:
    cursor = list(job.cursor) if job.cursor else []
    return {"cur": text.dumps(cursor), "man": text.dumps(dict(job.counts))}
