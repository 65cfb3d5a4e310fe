"""The cost of a bank's model calls, in requests and replies."""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import NotRequired

from typing_extensions import TypedDict

from streambank.errors import InvalidArgument
from streambank.model import usage as model
from streambank.wire.reply import Date, without_nulls

DEFAULT_DAYS = 30
MAX_DAYS = 400


class Cost(TypedDict):
    """Sums; the tokens of embeddings are estimated, and the cost is 0 where the deployment has no prices.

    The input tokens include those that a prompt cache gave or took. Calls of the service for personal data are counted
    with the units of text that it bills, and are no part of the estimated cost.
    """

    modelCalls: int
    promptedCharacters: int
    inputTokens: int
    outputTokens: int
    embeddingTokens: int
    cacheReadTokens: int
    cacheWriteTokens: int
    modelRetries: int
    personalDataCalls: int
    personalDataUnits: int
    estimatedCostUsd: float


class DayCost(Cost):
    """The sums of one UTC day."""

    date: Date


class UsageReport(TypedDict):
    """The days on which the bank's models were called, in order; without a budget there is no limit."""

    days: list[DayCost]
    total: Cost
    dailyTokenBudget: NotRequired[int | None]
    tokensToday: int


def dollars(micros: int) -> float:
    """Return millionths of a dollar as dollars."""
    return micros / 1_000_000


def days(query: Mapping[str, str], today: date) -> tuple[date, date]:
    """Return the first and the last UTC day of a request, by default the last thirty days. Raises InvalidArgument."""
    last = _day(query, "endDate") or today
    first = _day(query, "startDate") or last - timedelta(days=min(DEFAULT_DAYS, last.toordinal()) - 1)
    if not 0 <= (last - first).days < MAX_DAYS:
        raise InvalidArgument("startDate", f"must be at most {MAX_DAYS} days before endDate, and not after it")
    return first, last


def _day(query: Mapping[str, str], name: str) -> date | None:
    text = query.get(name)
    if not text:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise InvalidArgument(name, "must be a day like 2026-01-31") from None


def cost(usage: model.Usage) -> Cost:
    """Return one sum."""
    return Cost(
        modelCalls=usage.calls,
        promptedCharacters=usage.characters,
        inputTokens=usage.input_tokens,
        outputTokens=usage.output_tokens,
        embeddingTokens=usage.embedding_tokens,
        cacheReadTokens=usage.cache_read_tokens,
        cacheWriteTokens=usage.cache_write_tokens,
        modelRetries=usage.retries,
        personalDataCalls=usage.personal_data_calls,
        personalDataUnits=usage.personal_data_units,
        estimatedCostUsd=dollars(usage.micros),
    )


def usage_report(by_day: Mapping[date, model.Usage], daily_tokens: int | None, tokens_today: int) -> UsageReport:
    """Return the days in order, their sum, and the use of today's budget."""
    return without_nulls(
        UsageReport(
            days=[DayCost(date=day.isoformat(), **cost(by_day[day])) for day in sorted(by_day)],
            total=cost(sum(by_day.values(), model.Usage())),
            dailyTokenBudget=daily_tokens,
            tokensToday=tokens_today,
        )
    )
