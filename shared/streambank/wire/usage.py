"""What models cost, as the wire shows it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

from streambank.errors import InvalidArgument
from streambank.model.usage import Usage
from streambank.wire.times import without_nulls

DEFAULT_DAYS = 30
MAX_DAYS = 400


def dollars(micros: int) -> float:
    """Return millionths of a dollar as dollars."""
    return micros / 1_000_000


def days(query: Mapping[str, str], today: date) -> tuple[date, date]:
    """Return the first and the last UTC day that a request asks about: the last thirty if it does not say."""
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


def cost(usage: Usage) -> dict[str, Any]:
    """Return one sum."""
    return {
        "modelCalls": usage.calls,
        "promptedCharacters": usage.characters,
        "inputTokens": usage.input_tokens,
        "outputTokens": usage.output_tokens,
        "modelRetries": usage.retries,
        "estimatedCostUsd": dollars(usage.micros),
    }


def books(found: Mapping[date, Usage], daily_tokens: int | None, tokens_today: int) -> dict[str, object]:
    """Return the days in order, their sum, and what is left of today's budget."""
    return without_nulls(
        {
            "days": [{"date": day.isoformat(), **cost(found[day])} for day in sorted(found)],
            "total": cost(sum(found.values(), Usage())),
            "dailyTokenBudget": daily_tokens,
            "tokensToday": tokens_today,
        }
    )
