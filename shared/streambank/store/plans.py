"""The results of a generation: candidates, plans, verdicts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

from streambank.errors import Conflict
from streambank.model.extraction import Extraction
from streambank.model.plan import Extracted, Plan
from streambank.model.verdict import RecordedVerdict
from streambank.model.window import Attempt, Window
from streambank.store import keys
from streambank.store import plan_items as items
from streambank.store.actions import Action, ConditionCheck, Put, absent
from streambank.store.attributes import seconds
from streambank.store.keys import Key
from streambank.store.table import Table
from streambank.store.windows import is_current_attempt, window_key

# Items of at most 400 KB in a transaction of 4 MB, beside the head of their list.
_ITEMS_TOGETHER = 8


class Plans:
    """The access patterns of `P#`; every write is conditional on the fence of its attempt."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def save_extracted(self, attempt: Attempt, extracted: Extracted, *, expires: datetime | None) -> bool:
        """Store a window's candidates once; False if they are stored already or the attempt is not current any more."""
        check = ConditionCheck(window_key(attempt), is_current_attempt(attempt.attempt))
        head, *rest = [_expiring(put, expires) for put in items.extracted_puts(attempt, extracted)]
        return self._save_list(check, [replace(head, condition=absent()), check], rest)

    def extend_extracted(self, attempt: Attempt, extracted: Extracted, *, expires: datetime | None) -> bool:
        """Store a window's candidates with further ones behind them; False if the attempt is not current any more."""
        return self._replace_list(attempt, items.extracted_puts(attempt, extracted), expires)

    def _replace_list(self, attempt: Attempt, puts: Sequence[Put], expires: datetime | None) -> bool:
        """Store the items of a list over those of an older one."""
        check = ConditionCheck(window_key(attempt), is_current_attempt(attempt.attempt))
        head, *rest = [_expiring(put, expires) for put in puts]
        return self._save_list(check, [check, head], rest)

    def _save_list(self, check: ConditionCheck, last: Sequence[Action], rest: Sequence[Put]) -> bool:
        """Store the items *rest* of a list, and in the same transaction as the last of them its head, in *last*.

        A list is there as soon as its head is. Return False if a condition did not hold.
        """
        whole = len(rest) - len(rest) % _ITEMS_TOGETHER
        try:
            for start in range(0, whole, _ITEMS_TOGETHER):
                self._table.transact_despite_contention([check, *rest[start : start + _ITEMS_TOGETHER]])
            self._table.transact_despite_contention([*last, *rest[whole:]])
        except Conflict:
            return False
        return True

    def extracted(self, attempt: Attempt) -> Extracted | None:
        """Return a window's candidates if they were stored."""
        return items.extracted_of(self._list(partial(keys.candidates, attempt.bank, attempt.sid, attempt.window)))

    def _list(self, key_of: Callable[[int, str], Key]) -> list[dict[str, Any]]:
        """Return the items of the list that is stored last, or no item if there is none."""
        head = self._table.get(key_of(0, ""))
        rest = [self._table.get(key_of(part, digest)) for part, digest in items.rest_of(head)] if head else []
        stored = [item for item in (head, *rest) if item is not None]
        return stored if head and len(stored) == head["parts"] else []

    def piece(self, attempt: Attempt, number: int, digest: str) -> Extraction | None:
        """Return a model's stored answer for piece *number* of a long window, if its request had the same *digest*."""
        return items.piece_of(self._table.get(keys.piece(attempt.bank, attempt.sid, attempt.window, number)), digest)

    def save_piece(
        self, attempt: Attempt, number: int, digest: str, answer: Extraction, *, expires: datetime | None
    ) -> None:
        """Keep an answer for the next attempt; it is dropped if the attempt is not current any more."""
        check = ConditionCheck(window_key(attempt), is_current_attempt(attempt.attempt))
        try:
            self._table.transact_despite_contention(
                [check, _expiring(items.piece_put(attempt, number, digest, answer), expires)]
            )
        except Conflict:
            return

    def save_plan(self, attempt: Attempt, plan: Plan, *, expires: datetime | None) -> bool:
        """Store the plan of *attempt*, over an older one; False if the attempt is not current any more."""
        return self._replace_list(attempt, items.plan_puts(attempt, plan), expires)

    def plan(self, attempt: Attempt) -> Plan | None:
        """Return the stored plan of a window, or None."""
        return items.plan_of(self._list(partial(keys.plan, attempt.bank, attempt.sid, attempt.window)))

    def verdicts(self, window: Window) -> list[RecordedVerdict]:
        """Return the committed verdicts on the candidates of *window*, in their order."""
        prefix = keys.verdicts(window.stream.bank, window.stream.sid, window.number)
        slices = self._table.query(prefix.pk, prefix=prefix.sk)
        return [recorded for item in slices for recorded in items.verdicts_of(item)]


def _expiring(put: Put, expires: datetime | None) -> Put:
    return replace(put, values={**put.values, "ttl": seconds(expires)}) if expires else put
