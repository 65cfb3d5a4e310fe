from datetime import date

import pytest

from streambank.errors import InvalidArgument
from streambank.model.usage import Usage
from streambank.wire.usage import days, usage_report

TODAY = date(2026, 11, 30)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, (date(2026, 11, 1), TODAY)),
        ({"startDate": "2026-11-30"}, (TODAY, TODAY)),
        ({"endDate": "2026-02-28"}, (date(2026, 1, 30), date(2026, 2, 28))),
        ({"startDate": "2025-10-27"}, (date(2025, 10, 27), TODAY)),
        ({"endDate": "0001-01-02"}, (date(1, 1, 1), date(1, 1, 2))),
    ],
)
def test_the_days_that_are_asked_for(query, expected):
    """Thirty days by default, both ends included; at most four hundred."""
    assert days(query, TODAY) == expected


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"startDate": "yesterday"}, "startDate"),
        ({"endDate": "2026-13-01"}, "endDate"),
        ({"startDate": "2026-12-01"}, "startDate"),
        ({"startDate": "2025-10-26"}, "startDate"),
    ],
)
def test_other_days_are_refused(query, field):
    """A day that is none, an end before its start and more than four hundred days are 400 by name."""
    with pytest.raises(InvalidArgument) as error:
        days(query, TODAY)
    assert error.value.field == field


def test_a_report_adds_up():
    """Days stand in order, the total is their sum, and a budget that there is not is not shown."""
    found = {TODAY: Usage(1, 2, 3, 4, 5, 1_500_000, 0, 2, 1, 4, 12), date(2026, 11, 2): Usage(1, 1, 1, 1, 1, 250_000)}
    shown = usage_report(found, None, 7)
    assert [day["date"] for day in shown["days"]] == ["2026-11-02", "2026-11-30"]
    assert shown["total"] == {
        "modelCalls": 2,
        "promptedCharacters": 3,
        "inputTokens": 4,
        "outputTokens": 5,
        "embeddingTokens": 0,
        "cacheReadTokens": 2,
        "cacheWriteTokens": 1,
        "modelRetries": 6,
        "personalDataCalls": 4,
        "personalDataUnits": 12,
        "estimatedCostUsd": 1.75,
    }
    assert shown["tokensToday"] == 7
    assert "dailyTokenBudget" not in shown
