from datetime import date

import pytest

from streambank.model.usage import Usage
from streambank.store.usage import UsageStore
from tests import aws

TODAY = date(2026, 11, 30)


@pytest.fixture
def usage_store(world):
    return UsageStore(world.table)


def test_usage_is_summed(usage_store):
    """What is booked on a day adds up, and each bank and each day has its own sum."""
    usage_store.add("default", TODAY, Usage(1, 100, 10, 5, 0, 7, 3, 4, 2))
    usage_store.add("default", TODAY, Usage(2, 50, 20, 6, 1, 8))
    usage_store.add("other", TODAY, Usage(9, 9, 9, 9, 9, 9))
    usage_store.add("default", date(2026, 12, 1), Usage(calls=4))
    assert usage_store.day("default", TODAY) == Usage(3, 150, 30, 11, 1, 15, 3, 4, 2)
    assert usage_store.day("default", date(2026, 11, 29)) == Usage()


def test_days_are_in_a_range(usage_store):
    """A range shows the days that something was spent on, its two ends included, and no other bank's."""
    days = [date(2026, 11, day) for day in (1, 9, 10, 30)]
    for calls, day in enumerate(days, 1):
        usage_store.add("default", day, Usage(calls=calls))
    usage_store.add("default2", TODAY, Usage(calls=99))
    found = usage_store.days("default", days[1], TODAY)
    assert {day: usage.calls for day, usage in found.items()} == {days[1]: 2, days[2]: 3, TODAY: 4}
    assert usage_store.days("default", date(2026, 11, 2), date(2026, 11, 8)) == {}


def test_a_day_is_kept_for_thirteen_months(world, usage_store):
    """A day's sums expire four hundred days after it, however often they were added to."""
    for _ in range(2):
        usage_store.add("default", date(1970, 1, 2), Usage(calls=1))
    [item] = aws.dump(world.client)
    assert item["ttl"]["N"] == str(401 * 86_400)
