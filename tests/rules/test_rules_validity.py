"""How the times are read that a model writes."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from streambank.model.validity import OPEN, Validity
from streambank.rules.validity import read_validity

NEAR = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)


def read(start="", end="", zone="UTC"):
    return read_validity(start, end, ZoneInfo(zone), near=NEAR)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2026-05-01", datetime(2026, 5, 1, tzinfo=UTC), datetime(2026, 5, 1, 23, 59, 59, tzinfo=UTC)),
        ("2026-12", datetime(2026, 12, 1, tzinfo=UTC), datetime(2026, 12, 31, 23, 59, 59, tzinfo=UTC)),
        ("2026", datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 12, 31, 23, 59, 59, tzinfo=UTC)),
        (" 2026-05-01T10:00 ", datetime(2026, 5, 1, 10, tzinfo=UTC), datetime(2026, 5, 1, 10, tzinfo=UTC)),
        ("2026-05-01T10:00:00+02:00", datetime(2026, 5, 1, 8, tzinfo=UTC), datetime(2026, 5, 1, 8, tzinfo=UTC)),
    ],
)
def test_a_day_a_month_and_a_year_hold_whole(text, first, last):
    """A period begins with its first second and ends with its last; a time is what it says."""
    assert read(text).start == first
    assert read("", text).end == last


def test_a_date_is_in_the_zone_of_the_window():
    """A day without an offset is the user's."""
    assert read("2026-05-01", zone="Europe/Vienna").start == datetime(2026, 4, 30, 22, tzinfo=UTC)


def test_what_is_implausible_costs_that_value():
    """A time more than 100 years away, and an end that is not after the start, count as empty."""
    assert read("1900-01-01", "2026-05-01") == read("", "2026-05-01")
    assert read("2026-05-01", "2200-01-01") == read("2026-05-01")
    assert read("2026-05-03", "2026-05-01") == read("2026-05-03")


@example("9999-12-31", "0001-01-01")
@example("2026-02-30", "0000")
@example("9999", "9999-12")
@given(st.text(max_size=12) | st.dates().map(str), st.text(max_size=12) | st.datetimes().map(str))
def test_no_text_fails(start, end):
    """Whatever a model writes, there is a validity, and an end is after its start."""
    for zone in ("UTC", "Pacific/Kiritimati", "America/Los_Angeles"):
        found = read(start, end, zone)
        assert isinstance(found, Validity)
        assert found.start is None or found.end is None or found.start < found.end


def test_nothing_said_is_open():
    """Without times both ends are open."""
    assert read() == OPEN
