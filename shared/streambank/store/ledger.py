"""What models cost each bank, day by day."""

from __future__ import annotations

from datetime import date, timedelta

from streambank.model.usage import Usage
from streambank.store import keys
from streambank.store.actions import Add
from streambank.store.table import Table

# Long enough for a bill of the same month last year.
_KEPT = timedelta(days=400)
_EPOCH = date(1970, 1, 1)


class Ledger:
    """The access patterns of `U#`: sums that only grow."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def book(self, bank: str, day: date, usage: Usage) -> None:
        """Add *usage* to a bank's day. A crash before this leaves a call unbooked, a repeated call is booked twice."""
        sums = {
            "calls": usage.calls,
            "chars": usage.characters,
            "tin": usage.input_tokens,
            "tout": usage.output_tokens,
            "again": usage.retries,
        }
        expiry = {"ttl": (day + _KEPT - _EPOCH).days * 86_400}
        self._table.write(Add(keys.usage(bank, day.isoformat()), sums, expiry))

    def day(self, bank: str, day: date) -> Usage:
        """Return what a bank spent on *day*."""
        item = self._table.get(keys.usage(bank, day.isoformat())) or {}
        return Usage(*(item.get(name, 0) for name in ("calls", "chars", "tin", "tout", "again")))
