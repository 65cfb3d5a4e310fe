import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank_client.errors import InvalidArgument, NotFound, PayloadTooLarge
from streambank_client.http.batching import batches, is_caused_by_event

SIZES = st.lists(st.integers(0, 40), max_size=30)


@given(SIZES, st.integers(1, 6), st.integers(1, 60))
def test_calls_hold_all_events_in_order_and_no_more_than_they_may(sizes, most_events, most_bytes):
    """Nothing is lost, doubled or moved; a call holds too many bytes only where it is one event."""
    calls = list(batches(sizes, lambda size: size, most_events=most_events, most_bytes=most_bytes))
    assert [size for call in calls for size in call] == sizes
    assert all(0 < len(call) <= most_events for call in calls)
    assert all(sum(call) <= most_bytes or len(call) == 1 for call in calls)


@given(SIZES, st.integers(1, 6), st.integers(1, 60))
def test_no_call_is_begun_without_need(sizes, most_events, most_bytes):
    """A call ends only where the next event has no room in it."""
    calls = list(batches(sizes, lambda size: size, most_events=most_events, most_bytes=most_bytes))
    for call, following in itertools.pairwise(calls):
        assert len(call) == most_events or sum(call) + following[0] > most_bytes


@pytest.mark.parametrize(
    ("error", "is_its_fault"),
    [
        (InvalidArgument("directContentsSource.events[0].content", "bad"), True),
        (PayloadTooLarge("", "too large"), True),
        (InvalidArgument("scope", "bad"), False),
        (InvalidArgument("", "bad"), False),
        (NotFound("no bank"), False),
    ],
)
def test_whose_fault_a_refusal_is(error, is_its_fault):
    """Only what names an event, or its size, is an event's fault: nothing is dropped for a wrong scope."""
    assert is_caused_by_event(error) is is_its_fault
