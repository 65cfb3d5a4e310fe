"""What models cost each bank, day by day."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

from streambank.model.usage import Usage
from streambank.store import keys
from streambank.store.actions import Add
from streambank.store.table import Table

# Long enough for a bill of the same month last year.
_KEPT = timedelta(days=400)
_EPOCH = date(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class Day:
    """What a bank spent on one UTC day."""

    day: date
    usage: Usage = field(default=Usage())
    windows: int = 0


class Ledger:
    """The access patterns of `U#`: sums that only grow."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def book(self, bank: str, day: date, usage: Usage, *, windows: int = 0) -> None:
        """Add *usage* to a bank's day. A crash before this leaves a call unbooked, a repeated call is booked twice."""
        sums = {
            "calls": usage.calls,
            "chars": usage.characters,
            "tin": usage.input_tokens,
            "tout": usage.output_tokens,
            "again": usage.retries,
            "wins": windows,
        }
        expiry = {"ttl": (day + _KEPT - _EPOCH).days * 86_400}
        self._table.write(Add(keys.usage(bank, day.isoformat()), sums, expiry))

    def day(self, bank: str, day: date) -> Day:
        """Return what a bank spent on *day*."""
        return _day_of(day, self._table.get(keys.usage(bank, day.isoformat())) or {})

    def days(self, bank: str, first: date, last: date) -> list[Day]:
        """Return the days from *first* to *last* on which a bank spent anything, the newest first."""
        ends = (keys.usage(bank, first.isoformat()), keys.usage(bank, last.isoformat()))
        found = self._table.query(ends[0].pk, between=(ends[0].sk, ends[1].sk), backward=True)
        return [_day_of(date.fromisoformat(item["SK"].removeprefix("D#")), item) for item in found]


def _day_of(day: date, item: Mapping[str, Any]) -> Day:
    sums = (int(item.get(name, 0)) for name in ("calls", "chars", "tin", "tout", "again"))
    return Day(day, Usage(*sums), int(item.get("wins", 0)))
