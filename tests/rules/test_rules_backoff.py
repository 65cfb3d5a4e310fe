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


@given(attempt=st.integers(0, 60), jitter=jitters)
def test_request_pauses_are_capped(attempt, jitter):
    """Full jitter lies between nothing and the doubled base, a second at most."""
    assert 0 <= backoff.retry_pause_seconds(attempt, jitter) <= min(1.0, 0.05 * 2**attempt)


def test_request_pauses_double():
    """With jitter almost 1 the first pauses are 50, 100, 200 ms."""
    pauses = [round(backoff.retry_pause_seconds(attempt, 1), 3) for attempt in range(6)]
    assert pauses == [0.05, 0.1, 0.2, 0.4, 0.8, 1.0]
