"""The clock that can be moved, and the timers that follow it."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank_local.clock import MovableClock
from streambank_local.emulator.schedule import PARTITIONS, DueTimes, MinuteTimer

ABOUT = timedelta(seconds=2)


def test_clock_runs_like_the_wall_clock() -> None:
    """Unmoved, it tells the aware time in UTC."""
    now = MovableClock().now()
    assert now.tzinfo is UTC
    assert abs(datetime.now(UTC) - now) < ABOUT


@given(st.lists(st.timedeltas(min_value=timedelta(), max_value=timedelta(days=400)), max_size=8))
def test_advances_add_up(steps: list[timedelta]) -> None:
    """However many steps it took, the clock is ahead by their sum."""
    clock = MovableClock()
    for step in steps:
        clock.advance(step)
    assert abs(clock.now() - datetime.now(UTC) - sum(steps, timedelta())) < ABOUT


def test_clock_never_goes_back() -> None:
    """A step back is refused, and a time that has passed leaves the clock alone."""
    clock = MovableClock()
    clock.advance(timedelta(hours=1))
    with pytest.raises(ValueError, match="forward"):
        clock.advance(timedelta(seconds=-1))
    clock.advance_to(datetime.now(UTC))
    assert clock.now() - datetime.now(UTC) > timedelta(minutes=59)


def test_clock_arrives_where_it_was_sent() -> None:
    """It is at least at the time it was moved to, and hardly later."""
    clock = MovableClock()
    target = datetime.now(UTC) + timedelta(days=9)
    clock.advance_to(target)
    assert timedelta() <= clock.now() - target < ABOUT


def test_no_advance_is_lost_among_threads() -> None:
    """Eight threads moving the clock move it by their sum."""
    clock = MovableClock()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: clock.advance(timedelta(hours=1)), range(800)))
    assert abs(clock.now() - datetime.now(UTC) - timedelta(hours=800)) < ABOUT


class Frozen:
    """A clock that stands just before a full minute."""

    def now(self) -> datetime:
        return datetime(2026, 3, 1, 11, 59, 59, 990_000, tzinfo=UTC)


@pytest.mark.parametrize(("enabled", "ticks"), [(True, True), (False, False)])
def test_timer_ticks_at_the_full_minute(enabled: bool, ticks: bool) -> None:
    """Ten milliseconds before a minute it waits those and ticks; disabled it does not."""
    ticked = threading.Event()
    timer = MinuteTimer(Frozen(), ticked.set)
    timer.enabled = enabled
    timer.start()
    assert ticked.wait(0.2) is ticks
    timer.stop()


def test_failed_tick_does_not_end_the_timer(caplog: pytest.LogCaptureFixture) -> None:
    """The next minute tries again, and the log tells of it."""
    count: list[int] = []

    def tick() -> None:
        count.append(1)
        raise RuntimeError("once")

    timer = MinuteTimer(Frozen(), tick)
    timer.start()
    deadline = time.monotonic() + 5
    while len(count) < 2 and time.monotonic() < deadline:
        time.sleep(0.005)
    timer.stop()
    assert len(count) >= 2
    assert "once" in caplog.text


def moment(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def put_due(table: Any, number: int, seconds: int) -> None:
    key = {"PK": {"S": f"s-{number}-{seconds}"}, "SK": {"S": "HEAD"}}
    index = {"G1PK": {"S": PARTITIONS[number]}, "G1SK": {"N": str(seconds)}}
    table.put_item(TableName="table", Item=key | index)


def test_next_due_time_is_the_earliest_of_all_partitions(table: Any) -> None:
    """Later than now, at most the target, whichever of the eight partitions holds it."""
    for number, seconds in ((0, 500), (7, 300), (3, 100), (3, 400)):
        put_due(table, number, seconds)
    due = DueTimes("table")
    assert [due.next(moment(after), moment(until)) for after, until in ((0, 99), (0, 600), (100, 600), (300, 400))] == [
        None,
        moment(100),
        moment(300),
        moment(400),
    ]
    assert due.next(moment(500), moment(10_000)) is None
