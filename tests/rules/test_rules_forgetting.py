"""Requests to forget: which candidates make one, which are kept, and against what they guard."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank.model.extraction import FactChange
from streambank.model.plan import ForgetRequest
from streambank.rules import forgetting
from streambank.rules.forgetting import MAX_REQUESTS, MAX_TEXT_BYTES
from tests.rules.building import MINUTE, NOW, STREAM, candidate, window

DAY = timedelta(days=1)
REQUEST = ForgetRequest("another stream", 1, 0, "Forget: Sam", NOW, NOW + 90 * DAY)
OLDER = candidate("Sam plays chess", at=NOW - MINUTE)


def test_each_request_of_a_slice_is_kept_as_long_as_its_events():
    """Candidates that are refused, that are facts, or that are of another slice make no request."""
    facts = [
        candidate("Forget: tea"),
        candidate("Forget: Sam"),
        candidate("I ski"),
        candidate("everything about Noor", change=FactChange.FORGETS, at=NOW + MINUTE),
        candidate("Forget: x", rejected="blank"),
        candidate("Forget: the rest"),
    ]
    made = forgetting.requests_of(window(number=7), facts, 1, 5, retention=90 * DAY)
    assert made == [
        ForgetRequest(STREAM.sid, 7, 1, "Forget: Sam", NOW, NOW + 90 * DAY),
        ForgetRequest(STREAM.sid, 7, 3, "everything about Noor", NOW + MINUTE, NOW + 90 * DAY),
    ]


@pytest.mark.parametrize(
    ("about", "is_guarded"),
    [
        (OLDER, True),
        (replace(OLDER, at=NOW), False),
        (replace(OLDER, at=NOW + MINUTE), False),
        (replace(OLDER, fact="Forget: chess"), False),
        (replace(OLDER, change=FactChange.FORGETS), False),
        (replace(OLDER, rejected="blank"), False),
        (replace(OLDER, profile="schema"), False),
    ],
)
def test_a_request_guards_against_facts_that_are_older(about, is_guarded):
    """Not against what was said since, other requests, refused candidates and profiles."""
    assert forgetting.guards(REQUEST, about, window(), now=NOW) is is_guarded


@pytest.mark.parametrize(
    ("request_", "is_guarding"),
    [
        (replace(REQUEST, sid=STREAM.sid), False),
        (replace(REQUEST, sid=STREAM.sid, window=2), True),
        (replace(REQUEST, expires=NOW), False),
        (replace(REQUEST, expires=NOW + MINUTE), True),
    ],
)
def test_a_request_guards_other_windows_until_it_expires(request_, is_guarding):
    """In its own window the order of what was said decides."""
    assert forgetting.guards(request_, OLDER, window(), now=NOW) is is_guarding


requests = st.builds(
    ForgetRequest,
    st.sampled_from("ab"),
    st.integers(1, 3),
    st.integers(0, 60),
    st.integers(0, 400).map("x".__mul__),
    st.integers(0, 50).map(lambda minutes: NOW + minutes * MINUTE),
    st.sampled_from([NOW, NOW + DAY]),
)


@given(st.lists(requests, max_size=150))
def test_a_scope_keeps_the_newest_requests_within_its_limits(known):
    """Each once, the newest first, none that has expired, a hundred of 16,000 bytes at most."""
    kept = forgetting.kept(known, now=NOW)
    live = {(one.sid, one.window, one.number) for one in known if one.expires > NOW}
    names = [(one.sid, one.window, one.number) for one in kept]
    assert len(set(names)) == len(names) <= MAX_REQUESTS
    assert set(names) <= live
    assert [one.at for one in kept] == sorted((one.at for one in kept), reverse=True)
    total = sum(len(one.text.encode()) for one in kept)
    assert total <= MAX_TEXT_BYTES
    assert len(kept) in (len(live), MAX_REQUESTS) or total + 400 > MAX_TEXT_BYTES


def test_the_hundredth_request_is_the_last():
    """The oldest of 101 short requests is not kept."""
    known = [replace(REQUEST, number=number, at=NOW + number * MINUTE) for number in range(MAX_REQUESTS + 1)]
    assert [one.number for one in forgetting.kept(known, now=NOW)] == list(range(MAX_REQUESTS, 0, -1))
