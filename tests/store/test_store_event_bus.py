"""Events are put on a bus in order, as many together as a call takes, and again where the bus does not take them."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from streambank.errors import OutOfReach
from streambank.retry import RetryPolicy
from streambank.store.event_bus import MAX_BYTES, MAX_ENTRIES, BusEvent, EventBus, batched

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def event(number, size=0):
    return BusEvent(NOW, {"id": number, "fact": "x" * size})


class Bus:
    """EventBridge, which at first does not take some entries of a call."""

    def __init__(self, refusals=0, every=2):
        self.refusals, self.every, self.taken, self.calls = refusals, every, [], 0

    def put_events(self, *, Entries):
        assert len(Entries) <= MAX_ENTRIES
        self.calls += 1
        replies = []
        for number, entry in enumerate(Entries):
            is_refused = self.refusals > 0 and number % self.every == self.every - 1
            replies.append({"ErrorCode": "ThrottlingException"} if is_refused else {"EventId": "1"})
            self.taken += [] if is_refused else [entry["Detail"]]
        self.refusals -= 1
        return {"Entries": replies}


def bus_over(client):
    return EventBus(client, "bus", RetryPolicy(lambda _seconds: None, lambda: 0.5))


def test_what_a_bus_does_not_take_is_put_again():
    """Entries of a call that failed are sent again, the others are not; nothing is lost."""
    client = Bus(refusals=2)
    bus_over(client).put(event(number) for number in range(4))
    assert sorted(client.taken) == sorted(event(number).text for number in range(4))
    assert client.calls == 3


def test_a_bus_that_takes_nothing_is_out_of_reach():
    """After the last try the record is left to Lambda, which delivers it again."""
    with pytest.raises(OutOfReach):
        bus_over(Bus(refusals=99, every=1)).put([event(0), event(1)])


@examples(max_examples=40)
@given(st.lists(st.sampled_from([0, 1_000, 60_000, 250_000]), max_size=30))
def test_calls_are_within_the_limits_of_the_bus(sizes):
    """Whatever events are put, they stay in order, ten and 256 KB at most together."""
    events = [event(number, size) for number, size in enumerate(sizes)]
    batches = list(batched(events))
    assert [one for batch in batches for one in batch] == events
    assert all(len(batch) <= MAX_ENTRIES and sum(one.bytes for one in batch) <= MAX_BYTES for batch in batches)
