"""Model calls within a bank's budget, and the books about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import TypeVar

from streambank.errors import BudgetPaused, GenerationError
from streambank.llm.ports import Consolidation
from streambank.model.bank import BankConfig
from streambank.model.extraction import Extraction
from streambank.model.usage import Price, Usage
from streambank.store.usage import UsageStore

A = TypeVar("A", Extraction, Consolidation)

# The name under which the price of the deployment's own model stands, and that of models without one.
DEFAULT_MODEL = "default"


@dataclass(frozen=True, slots=True)
class UsageReport:
    """What a bank spent on each day that it spent on, and how much of today's budget there was."""

    days: Mapping[date, Usage]
    daily_tokens: int | None
    tokens_today: int


@dataclass(frozen=True, slots=True)
class TokenBudget:
    """Who books; *daily_tokens* is the budget of banks that set none, None for no limit.

    *call_tokens* is how much one call may be given to read; a longer window is put to the model in pieces.
    *prices* are those of models by their names.
    """

    usage_store: UsageStore
    daily_tokens: int | None = None
    call_tokens: int = 24_000
    prices: Mapping[str, Price] = field(default_factory=dict)

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
                error.spent = self._priced(error.spent, config)
                self._book(bank, error.spent, now)
            raise
        priced = replace(answer, usage=self._priced(answer.usage, config))
        self._book(bank, priced.usage, now)
        return priced

    def books(self, bank: str, config: BankConfig, first: date, last: date, *, now: datetime) -> UsageReport:
        """Return what *bank* spent from *first* to *last*, both included: UTC days."""
        days = self.usage_store.days(bank, first, last)
        today = days.get(now.date()) or self.usage_store.day(bank, now.date())
        return UsageReport(days, self._budget(config), today.tokens)

    def _priced(self, usage: Usage, config: BankConfig) -> Usage:
        price = self.prices.get(config.model or DEFAULT_MODEL) or self.prices.get(DEFAULT_MODEL)
        return replace(usage, micros=price.of(usage)) if price else usage

    def _budget(self, config: BankConfig) -> int | None:
        return self.daily_tokens if config.daily_tokens is None else config.daily_tokens

    def _check(self, bank: str, config: BankConfig, now: datetime) -> None:
        """The last call of a day may overshoot: what it will cost is known only afterwards."""
        budget = self._budget(config)
        if budget is not None and self.usage_store.day(bank, now.date()).tokens >= budget:
            raise BudgetPaused(f"the bank's {budget} tokens of today are used up")

    def _book(self, bank: str, usage: Usage, now: datetime) -> None:
        if usage != Usage():
            self.usage_store.book(bank, now.date(), usage)
