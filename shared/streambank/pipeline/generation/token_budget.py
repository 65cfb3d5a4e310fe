"""Model calls within a bank's daily token budget, and the record of what they cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import TypeVar

from streambank.errors import BudgetPaused, Conflict, GenerationError, ModelTimedOut
from streambank.llm.ports import Consolidation, ConsolidationRequest, Embedder, ExtractionRequest
from streambank.model.bank import BankConfig
from streambank.model.extraction import Extraction
from streambank.model.usage import Price, Usage
from streambank.rules.reservations import most_tokens
from streambank.rules.tokens import estimate_tokens
from streambank.store.usage import UsageStore

# The keys of the prices of the deployment's own models, which are also those of models without a price.
DEFAULT_MODEL = "default"
DEFAULT_EMBEDDING = "embedding"


@dataclass(frozen=True, slots=True)
class UsageReport:
    """The usage of a bank by day, and how much of today's budget is used."""

    days: Mapping[date, Usage]
    daily_tokens: int | None
    tokens_today: int


@dataclass(frozen=True, slots=True)
class _Vectors:
    vectors: list[bytes]
    usage: Usage


R = TypeVar("R", ExtractionRequest, ConsolidationRequest)
A = TypeVar("A", Extraction, Consolidation, _Vectors)


@dataclass(frozen=True, slots=True)
class TokenBudget:
    """Limits and records model calls; *daily_tokens* is the most that any bank may use in a day, None for no limit.

    *call_tokens* is the most input of one call; a longer window is sent to the model in pieces. *output_tokens* is the
    most that one answer has. *prices* are by the names of models. *books_embeddings* is True where the texts of an
    answer are embedded by a model that is billed: they are booked with the answer.
    """

    usage_store: UsageStore
    daily_tokens: int | None = None
    call_tokens: int = 24_000
    prices: Mapping[str, Price] = field(default_factory=dict)
    output_tokens: int = 4_096
    books_embeddings: bool = False

    def call(self, bank: str, config: BankConfig, request: R, ask: Callable[[R], A], *, now: datetime) -> A:
        """Return *ask*'s answer to *request*; its usage is recorded, also where the answer could not be used.

        With a budget the most that the call may cost is reserved before it, and replaced afterwards by what it did.
        The reservation of a call whose end is not known counts as spent.

        Raises:
            BudgetPaused: the bank's tokens of this UTC day are used up or reserved; the model was not called.
        """
        return self._call(bank, config, most_tokens(request, self.output_tokens), lambda: ask(request), now)

    def embed(
        self,
        bank: str,
        config: BankConfig,
        texts: Sequence[str],
        embedder: Embedder,
        *,
        now: datetime,
        for_query: bool = False,
    ) -> list[bytes]:
        """Return the vectors of *texts* from the bank's embedding model, within the budget as `call` is.

        Raises:
            BudgetPaused: the bank's tokens of this UTC day are used up or reserved; the model was not called.
            GenerationError: the embedding model's own.
        """
        if not texts or embedder.is_local:
            return embedder.embed(texts, model=config.embedding_model, for_query=for_query)
        tokens = sum(map(estimate_tokens, texts))

        def embedded() -> _Vectors:
            vectors = embedder.embed(texts, model=config.embedding_model, for_query=for_query)
            return _Vectors(vectors, Usage(embedding_tokens=tokens))

        return self._call(bank, config, tokens, embedded, now).vectors

    def report(self, bank: str, config: BankConfig, first: date, last: date, *, now: datetime) -> UsageReport:
        """Return the usage of *bank* from *first* to *last*, both included: UTC days."""
        days = self.usage_store.days(bank, first, last)
        today = days.get(now.date()) or self.usage_store.day(bank, now.date())
        return UsageReport(days, self._budget(config), today.tokens)

    def _call(self, bank: str, config: BankConfig, most: int, ask: Callable[[], A], now: datetime) -> A:
        reserved = self._reserve(bank, config, most, now)
        try:
            answer = ask()
        except GenerationError as error:
            if error.spent:
                error.spent = self._priced(error.spent, config)
            is_open = isinstance(error, ModelTimedOut)  # the model may still answer, and be billed
            self._record(bank, error.spent or Usage(), 0 if is_open else reserved, now)
            raise
        usage = answer.usage
        if self.books_embeddings:
            usage = replace(usage, embedding_tokens=usage.embedding_tokens + _embedding_tokens(answer))
        priced = replace(answer, usage=self._priced(usage, config))
        self._record(bank, priced.usage, reserved, now)
        return priced

    def _priced(self, usage: Usage, config: BankConfig) -> Usage:
        price = self.prices.get(config.model or DEFAULT_MODEL) or self.prices.get(DEFAULT_MODEL)
        of_embedding = self.prices.get(config.embedding_model or DEFAULT_EMBEDDING) or self.prices.get(
            DEFAULT_EMBEDDING
        )
        micros = price.of(usage) if price else 0
        if of_embedding:
            micros += of_embedding.of(Usage(input_tokens=usage.embedding_tokens))
        return replace(usage, micros=micros)

    def _budget(self, config: BankConfig) -> int | None:
        """Return the lower one of the deployment's budget and the bank's own, or None if there is neither."""
        return min((one for one in (self.daily_tokens, config.daily_tokens) if one is not None), default=None)

    def _reserve(self, bank: str, config: BankConfig, tokens: int, now: datetime) -> int:
        """Return how many tokens were reserved for a call: *tokens*, or none without a budget.

        A call may begin while less than the budget is booked or reserved. So the calls of a day cost at most the
        budget and one call, however many run at once. Raises BudgetPaused.
        """
        budget = self._budget(config)
        if budget is None:
            return 0
        pause = BudgetPaused(f"the bank's {budget} tokens of today are used up")
        if budget == 0:
            raise pause
        try:
            self.usage_store.reserve(bank, now.date(), tokens, budget)
        except Conflict:
            raise pause from None
        return tokens

    def _record(self, bank: str, usage: Usage, reserved: int, now: datetime) -> None:
        if usage != Usage() or reserved:
            self.usage_store.add(bank, now.date(), usage, reserved=reserved)


def _embedding_tokens(answer: Extraction | Consolidation | _Vectors) -> int:
    """Return the tokens of the texts in *answer* that are embedded next."""
    match answer:
        case Extraction():
            texts = [fact.fact for fact in answer.facts]
        case Consolidation():
            texts = [decision.text for decision in answer.decisions if decision.text]
        case _:
            texts = []
    return sum(map(estimate_tokens, texts))
