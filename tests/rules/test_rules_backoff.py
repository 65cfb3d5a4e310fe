from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank.rules import backoff

jitters = st.floats(0, 1, exclude_max=True)


@pytest.mark.parametrize(("failures", "pause"), [(1, 1), (2, 4), (3, 15), (4, 60)])
def test_the_pauses_grow(failures, pause):
    """1, 4, 15 and 60 minutes lie between the five tries."""
    assert backoff.pause_after(failures, 0) == timedelta(minutes=pause)


@given(failures=st.integers(5, 99), jitter=jitters)
def test_the_fifth_failure_parks(failures, jitter):
    """After five failures no pause is named: the window is parked."""
    assert backoff.pause_after(failures, jitter) is None


@given(failures=st.integers(1, 4), jitter=jitters)
def test_jitter_only_lengthens_by_a_fifth(failures, jitter):
    """No pause is shorter than it says, and none more than a fifth longer."""
    least = backoff.pause_after(failures, 0)
    assert least <= backoff.pause_after(failures, jitter) <= least * 1.2


@given(minutes=st.integers(0, 3_000), jitter=st.floats(0, 1, exclude_max=True))
def test_a_throttled_window_waits_longer_the_older_it_is(minutes, jitter):
    """Pauses are from a minute to an hour and a fifth, and end after a day."""
    pause = backoff.pause_after_throttle(timedelta(minutes=minutes), jitter)
    assert (pause is None) is (minutes >= 24 * 60)
    if pause:
        assert timedelta(minutes=1) <= pause <= timedelta(minutes=72)
        assert pause >= min(timedelta(minutes=minutes) / 4, timedelta(hours=1))
