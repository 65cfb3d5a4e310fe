from hypothesis import given
from hypothesis import strategies as st

from streambank.llm.dialogue.retries import model_retry_policy
from streambank.retry import RetryPolicy


def policy(jitter, *, sleep=None, **limits):
    return RetryPolicy(sleep or (lambda _seconds: None), lambda: jitter, **limits)


@given(attempt=st.integers(0, 60), jitter=st.floats(0, 1, exclude_max=True))
def test_a_pause_has_a_limit(attempt, jitter):
    """Full jitter lies between nothing and the doubled first pause, a second at most."""
    assert 0 <= policy(jitter).pause_seconds(attempt) <= min(1.0, 0.05 * 2**attempt)


def test_pauses_double():
    """With jitter almost 1 the first pauses are 50, 100, 200 ms."""
    pauses = [round(policy(1.0).pause_seconds(attempt), 3) for attempt in range(6)]
    assert pauses == [0.05, 0.1, 0.2, 0.4, 0.8, 1.0]


def test_the_first_attempt_does_not_wait():
    """Pauses lie between attempts: none before the first, none after the last."""
    pauses = []
    assert list(policy(1.0, sleep=pauses.append, max_attempts=3).attempts()) == [0, 1, 2]
    assert pauses == [0.05, 0.1]


def test_all_pauses_together_have_a_limit():
    """Eight attempts wait 3.6 s at most: 50, 100, 200, 400, 800 ms and twice a second, rounded up."""
    pauses = []
    list(policy(1.0, sleep=pauses.append).attempts())
    assert sum(pauses) <= 3.6


def test_bedrock_waits_longer_and_tries_less_often():
    """Four attempts, with pauses of up to 1, 2 and 4 seconds."""
    pauses = []
    assert list(model_retry_policy(pauses.append, lambda: 1.0).attempts()) == [0, 1, 2, 3]
    assert pauses == [1.0, 2.0, 4.0]
