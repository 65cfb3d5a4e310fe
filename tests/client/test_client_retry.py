"""The one policy of retries: pauses, and whether an attempt is repeated."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank_client.errors import InvalidArgument, Unavailable
from streambank_client.http.retry import Backoff, Failure, RetryPolicy
from streambank_client.operations import POLLING

SHARES = st.floats(0, 1)
SECONDS = st.floats(0, 1_000, allow_subnormal=False)
BACKOFFS = st.builds(
    Backoff, base_seconds=SECONDS, most_seconds=SECONDS, growth=st.floats(1, 4), least_share=st.floats(0, 1)
)
FAILURES = st.builds(
    Failure,
    error=st.just(Unavailable("busy")),
    is_temporary=st.booleans(),
    had_no_effect=st.booleans(),
    retry_after_seconds=SECONDS,
)


@given(BACKOFFS, st.integers(1, 10**9), SHARES, st.floats(0, 10**9))
def test_pause_is_bounded(backoff: Backoff, failures: int, share: float, requested: float) -> None:
    """No pause is below its least share or above its most, however many failures there were; none overflows."""
    pause = backoff.delay_seconds(failures, share=share, requested_seconds=requested)
    assert 0 <= pause <= backoff.most_seconds
    assert pause >= backoff.least_share * min(backoff.base_seconds, backoff.most_seconds) * (1 - 1e-9)


@given(BACKOFFS, st.integers(1, 100), SHARES)
def test_pauses_grow(backoff: Backoff, failures: int, share: float) -> None:
    """One more failure never makes the pause shorter, with the same jitter."""
    assert backoff.delay_seconds(failures, share=share) <= backoff.delay_seconds(failures + 1, share=share)


@given(BACKOFFS, st.integers(1, 100), SHARES, SECONDS)
def test_requested_pause_is_the_least(backoff: Backoff, failures: int, share: float, requested: float) -> None:
    """A store that says when to come again is not asked before, unless that is longer than the longest pause."""
    pause = backoff.delay_seconds(failures, share=share, requested_seconds=requested)
    assert pause >= min(requested, backoff.most_seconds)


@given(FAILURES, st.integers(1, 20), st.booleans(), SECONDS, SHARES)
def test_attempt_is_repeated_where_that_is_safe(
    failure: Failure, attempts: int, repeatable: bool, left_seconds: float, share: float
) -> None:
    """A repeat comes only of what may pass, what is safe to repeat, within the number of retries and the deadline."""
    policy = RetryPolicy(retries=4)
    pause = policy.pause_seconds(
        failure, attempts=attempts, repeatable=repeatable, left_seconds=left_seconds, share=share
    )
    if pause is None:
        is_safe = failure.is_temporary and (repeatable or failure.had_no_effect)
        longest = failure.retry_after_seconds + policy.backoff.most_seconds
        assert not is_safe or attempts > policy.retries or longest >= left_seconds
    else:
        assert failure.is_temporary
        assert repeatable or failure.had_no_effect
        assert attempts <= policy.retries
        assert failure.retry_after_seconds <= pause < left_seconds


def test_final_error_has_no_pause() -> None:
    """What the service has decided is not repeated."""
    failure = Failure(InvalidArgument("scope", "is wrong"), is_temporary=False, had_no_effect=True)
    pause = RetryPolicy().pause_seconds(failure, attempts=1, repeatable=True, left_seconds=60, share=0.5)
    assert pause is None


@given(st.integers(1, 100), SHARES)
def test_polling_pauses_half_at_least(polls: int, share: float) -> None:
    """Operations are asked about every 5 s at most, and never faster than half of a pause."""
    longest = POLLING.delay_seconds(polls, share=1.0)
    assert longest / 2 <= POLLING.delay_seconds(polls, share=share) <= longest <= 5.0


@pytest.mark.parametrize("wrong", [{"base_seconds": -1}, {"most_seconds": -0.5}])
def test_negative_pauses_are_refused(wrong: dict[str, float]) -> None:
    """A backoff of less than nothing is an error when it is made."""
    with pytest.raises(ValueError, match="negative"):
        Backoff(**wrong)
