"""Model calls within a bank's daily token budget, and the record of what they cost."""

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

# The key of the price of the deployment's own model, which is also that of models without a price.
DEFAULT_MODEL = "default"


@dataclass(frozen=True, slots=True)
class UsageReport:
    """The usage of a bank by day, and how much of today's budget is used."""

    days: Mapping[date, Usage]
    daily_tokens: int | None
    tokens_today: int


@dataclass(frozen=True, slots=True)
class TokenBudget:
    """Limits and records model calls; *daily_tokens* is the budget of banks that set none, None for no limit.

    *call_tokens* is the most input of one call; a longer window is sent to the model in pieces. *prices* are by the
    names of models.
    """

    usage_store: UsageStore
    daily_tokens: int | None = None
    call_tokens: int = 24_000
    prices: Mapping[str, Price] = field(default_factory=dict)

    def call(self, bank: str, config: BankConfig, ask: Callable[[], A], *, now: datetime) -> A:
        """Call *ask* and return its answer; its usage is recorded, also where the answer could not be used.

        Raises:
            BudgetPaused: the bank's tokens of this UTC day are used up; the model was not called.
        """
        self._check(bank, config, now)
        try:
            answer = ask()
        except GenerationError as error:
            if error.spent:
                error.spent = self._priced(error.spent, config)
                self._record(bank, error.spent, now)
            raise
        priced = replace(answer, usage=self._priced(answer.usage, config))
        self._record(bank, priced.usage, now)
        return priced

    def report(self, bank: str, config: BankConfig, first: date, last: date, *, now: datetime) -> UsageReport:
        """Return the usage of *bank* from *first* to *last*, both included: UTC days."""
        days = self.usage_store.days(bank, first, last)
        today = days.get(now.date()) or self.usage_store.day(bank, now.date())
        return UsageReport(days, self._budget(config), today.tokens)

    def _priced(self, usage: Usage, config: BankConfig) -> Usage:
        price = self.prices.get(config.model or DEFAULT_MODEL) or self.prices.get(DEFAULT_MODEL)
        return replace(usage, micros=price.of(usage)) if price else usage

    def _budget(self, config: BankConfig) -> int | None:
        return self.daily_tokens if config.daily_tokens is None else config.daily_tokens

    def _check(self, bank: str, config: BankConfig, now: datetime) -> None:
        """Raise BudgetPaused if the budget is used up.

        The last call of a day may exceed it: the cost of a call is known only afterwards.
        """
        budget = self._budget(config)
        if budget is not None and self.usage_store.day(bank, now.date()).tokens >= budget:
            raise BudgetPaused(f"the bank's {budget} tokens of today are used up")

    def _record(self, bank: str, usage: Usage, now: datetime) -> None:
        if usage != Usage():
            self.usage_store.add(bank, now.date(), usage)
