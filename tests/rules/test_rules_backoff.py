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
