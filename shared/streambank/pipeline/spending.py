"""Model calls within a bank's budget, and the books about them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar

from streambank.errors import BudgetPaused, GenerationError
from streambank.model.bank import BankConfig
from streambank.model.usage import Usage
from streambank.store.ledger import Ledger


class Answer(Protocol):
    """What a model was asked for, with its cost."""

    @property
    def usage(self) -> Usage: ...


A = TypeVar("A", bound=Answer)


@dataclass(frozen=True, slots=True)
class Spending:
    """Who books; *daily_tokens* is the budget of banks that set none, None for no limit.

    *call_tokens* is how much one call may be given to read; a longer window is put to the model in pieces.
    """

    ledger: Ledger
    daily_tokens: int | None = None
    call_tokens: int = 24_000

    def asked(self, bank: str, config: BankConfig, ask: Callable[[], A], *, now: datetime) -> A:
        """Return what *ask* answers; what it cost is booked, also where the answer could not be used.

        Raises:
            BudgetPaused: the bank's tokens of this UTC day are used up; nothing was asked.
        """
        self._check(bank, config, now)
        try:
            answer = ask()
        except GenerationError as error:
            if error.spent:
                self._book(bank, error.spent, now)
            raise
        self._book(bank, answer.usage, now)
        return answer

    def _check(self, bank: str, config: BankConfig, now: datetime) -> None:
        """The last call of a day may overshoot: what it will cost is known only afterwards."""
        budget = self.daily_tokens if config.daily_tokens is None else config.daily_tokens
        if budget is not None and self.ledger.day(bank, now.date()).tokens >= budget:
            raise BudgetPaused(f"the bank's {budget} tokens of today are used up")

    def _book(self, bank: str, usage: Usage, now: datetime) -> None:
        if usage != Usage():
            self.ledger.book(bank, now.date(), usage)
