"""Calls at the limit of a thousand events, which are written in parts."""

import pytest

from tests.journeys.caller import Caller, said

pytestmark = pytest.mark.usefixtures("rested")

LIMIT = 1_000


def test_thousand_events_are_one_window(caller: Caller) -> None:
    """A call of a thousand events is one window and one generation that covers all; its replay accepts none."""
    before = caller.generations()
    stream = caller.stream()
    events = [said("Hm.", f"e{number}") for number in range(LIMIT)]
    sent = stream.send(*events, rule={"event_count": 10})
    assert (sent["metadata"]["window"], sent["metadata"]["acceptedEvents"]) == (1, LIMIT)
    caller.settle()
    done = caller.get(sent["name"])
    assert done["metadata"]["coverage"] == {"events": LIMIT, "covered": LIMIT}
    assert done["metadata"]["trigger"] == "EVENT_COUNT"
    replayed = stream.send(*events)
    assert (replayed["name"], replayed["done"]) == (sent["name"], True)
    assert (replayed["metadata"]["acceptedEvents"], replayed["metadata"]["duplicateEvents"]) == (0, LIMIT)
    caller.advance(minutes=3)
    assert caller.generations() == before + 1


def test_thousand_events_without_ids_are_one_window(caller: Caller) -> None:
    """Events without ids are all new, also if they say the same, and are one window."""
    before = caller.generations()
    stream = caller.stream()
    sent = stream.send(*[said("Hm.")] * LIMIT)
    caller.settle()
    done = caller.get(sent["name"])
    assert (sent["metadata"]["acceptedEvents"], done["metadata"]["window"]) == (LIMIT, 1)
    assert done["metadata"]["coverage"] == {"events": LIMIT, "covered": LIMIT}
    caller.advance(minutes=3)
    assert caller.generations() == before + 1


def test_repeats_inside_one_call_are_dropped(caller: Caller) -> None:
    """Two hundred events of which each second repeats the one before are a hundred."""
    events = [said("Hm.", f"e{number // 2}") for number in range(200)]
    metadata = caller.stream().send(*events, rule={"event_count": 1_000})["metadata"]
    assert (metadata["acceptedEvents"], metadata["duplicateEvents"], metadata["pendingEvents"]) == (100, 100, 100)


def test_call_of_megabytes_is_taken(caller: Caller) -> None:
    """A call of nearly four megabytes is sealed early for its size, and every event is in a window."""
    stream = caller.stream()
    events = [said(" " * 320_000, f"e{number}") for number in range(12)]
    sent = stream.send(*events, rule={"event_count": 1_000})
    assert sent["metadata"]["acceptedEvents"] == 12
    caller.settle()
    newest = caller.get(sent["name"])["metadata"]
    prefix = sent["name"].rpartition("-")[0]
    shown = [caller.get(f"{prefix}-{number}")["metadata"] for number in range(1, newest["window"] + 1)]
    assert sum(one["coverage"]["events"] for one in shown) == 12
    assert newest["trigger"] == "MAX_SIZE"


def test_batch_beyond_the_count_stays_whole(caller: Caller) -> None:
    """A call that overshoots the count is one window, not two."""
    stream = caller.stream()
    done = stream.send(*[said("Hm.", f"e{number}") for number in range(25)], rule={"event_count": 10})
    caller.settle()
    assert caller.get(done["name"])["metadata"]["coverage"]["covered"] == 25
    assert stream.send(said("Hm.", "new"))["metadata"]["pendingEvents"] == 1
