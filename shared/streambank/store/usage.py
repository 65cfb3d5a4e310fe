"""The cost of model calls, by bank and day."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

from streambank.model.usage import Usage
from streambank.store import keys
from streambank.store.actions import Add, below
from streambank.store.table import Table

# Long enough for a bill of the same month last year.
_KEPT = timedelta(days=400)
_EPOCH = date(1970, 1, 1)


class UsageStore:
    """The access patterns of `U#`: sums that only grow, and `held`, the tokens that are booked or reserved."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def reserve(self, bank: str, day: date, tokens: int, limit: int) -> None:
        """Reserve *tokens* of a bank's day, unless *limit* tokens or more are booked or reserved already.

        A repeat after a lost reply may reserve them twice.

        Raises:
            Conflict: the limit is reached; nothing was reserved.
        """
        self._table.write(Add(keys.usage(bank, day.isoformat()), {"held": tokens}, _expiry(day), below("held", limit)))

    def add(self, bank: str, day: date, usage: Usage, *, reserved: int = 0) -> None:
        """Add *usage* to a bank's day, in the place of *reserved* tokens.

        After a crash a call may be missing, after a repeat it may count twice; but a reservation ends once.
        """
        sums = {
            "calls": usage.calls,
            "chars": usage.characters,
            "tin": usage.input_tokens,
            "tout": usage.output_tokens,
            "again": usage.retries,
            "usd": usage.micros,
            "temb": usage.embedding_tokens,
            "tcr": usage.cache_read_tokens,
            "tcw": usage.cache_write_tokens,
            "pdc": usage.personal_data_calls,
            "pdu": usage.personal_data_units,
            "held": usage.tokens - reserved,
        }
        action = Add(keys.usage(bank, day.isoformat()), sums, _expiry(day))
        if reserved:  # a transaction has a token: a repeat after a lost reply does not end the reservation again
            self._table.transact_despite_contention([action])
        else:
            self._table.write(action)

    def day(self, bank: str, day: date) -> Usage:
        """Return the usage of a bank on *day*."""
        return _usage(self._table.get(keys.usage(bank, day.isoformat())) or {})

    def days(self, bank: str, first: date, last: date) -> dict[date, Usage]:
        """Return the usage of a bank on each day from *first* to *last* that has any: one query."""
        ends = (keys.usage(bank, first.isoformat()), keys.usage(bank, last.isoformat()))
        items = self._table.query(ends[0].pk, between=(ends[0].sk, ends[1].sk))
        return {date.fromisoformat(keys.name_in(item["SK"])): _usage(item) for item in items}


def _expiry(day: date) -> dict[str, int]:
    return {"ttl": (day + _KEPT - _EPOCH).days * 86_400}


def _usage(item: Mapping[str, Any]) -> Usage:
    names = ("calls", "chars", "tin", "tout", "again", "usd", "temb", "tcr", "tcw", "pdc", "pdu")
    return Usage(*(item.get(name, 0) for name in names))
