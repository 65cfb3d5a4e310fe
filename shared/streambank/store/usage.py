"""The cost of model calls, by bank and day."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

from streambank.model.usage import Usage
from streambank.store import keys
from streambank.store.actions import Add
from streambank.store.table import Table

# Long enough for a bill of the same month last year.
_KEPT = timedelta(days=400)
_EPOCH = date(1970, 1, 1)


class UsageStore:
    """The access patterns of `U#`: sums that only grow."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def add(self, bank: str, day: date, usage: Usage) -> None:
        """Add *usage* to a bank's day. After a crash a call may be missing, after a repeat it may count twice."""
        sums = {
            "calls": usage.calls,
            "chars": usage.characters,
            "tin": usage.input_tokens,
            "tout": usage.output_tokens,
            "again": usage.retries,
            "usd": usage.micros,
        }
        expiry = {"ttl": (day + _KEPT - _EPOCH).days * 86_400}
        self._table.write(Add(keys.usage(bank, day.isoformat()), sums, expiry))

    def day(self, bank: str, day: date) -> Usage:
        """Return the usage of a bank on *day*."""
        return _usage(self._table.get(keys.usage(bank, day.isoformat())) or {})

    def days(self, bank: str, first: date, last: date) -> dict[date, Usage]:
        """Return the usage of a bank on each day from *first* to *last* that has any: one query."""
        ends = (keys.usage(bank, first.isoformat()), keys.usage(bank, last.isoformat()))
        items = self._table.query(ends[0].pk, between=(ends[0].sk, ends[1].sk))
        return {date.fromisoformat(keys.name_in(item["SK"])): _usage(item) for item in items}


def _usage(item: Mapping[str, Any]) -> Usage:
    return Usage(*(item.get(name, 0) for name in ("calls", "chars", "tin", "tout", "again", "usd")))
