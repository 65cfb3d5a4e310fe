"""Every record of the table's stream is lost: the minute sweep alone brings each window home, once."""

from collections.abc import Iterator

import pytest

from tests.journeys.caller import Caller, said

pytestmark = pytest.mark.usefixtures("rested")

BEES = "I keep bees."


@pytest.fixture(autouse=True)
def _no_stream_records(caller: Caller) -> Iterator[None]:
    caller.service.poller_enabled = False
    yield
    caller.service.poller_enabled = True


def recovered(caller: Caller, operation: dict, before: int, covered: int) -> bool:
    """Tell whether the sweep finished the operation with one generation."""
    caller.recover()
    shown = caller.get(operation["name"])
    return shown["done"] and shown["metadata"]["coverage"]["covered"] == covered and caller.generations() == before + 1


def test_count_is_recovered(caller: Caller) -> None:
    """A window that reached its count is generated though nobody heard of it."""
    before = caller.generations()
    sent = caller.stream().send(said(BEES), said("Hm."), rule={"event_count": 2})
    caller.settle()
    assert (caller.get(sent["name"])["done"], caller.generations()) == (False, before)
    assert recovered(caller, sent, before, covered=2)


def test_forced_flush_is_recovered(caller: Caller) -> None:
    """A forced flush takes place though nobody heard of it."""
    before = caller.generations()
    sent = caller.stream().send(said(BEES), rule={"event_count": 10}, force_flush=True)
    assert recovered(caller, sent, before, covered=1)


def test_idle_time_is_recovered(caller: Caller) -> None:
    """An idle time fires without any stream record, and not early."""
    before = caller.generations()
    sent = caller.stream().send(said(BEES), rule={"idle_duration": "300s"})
    caller.advance(seconds=270)
    assert (caller.get(sent["name"])["metadata"]["state"], caller.generations()) == ("BUFFERING", before)
    assert recovered(caller, sent, before, covered=1)


def test_start_of_a_sealed_window_is_recovered(caller: Caller) -> None:
    """A window that was sealed by the next call is started by the sweep."""
    before = caller.generations()
    stream = caller.stream()
    first = stream.send(said(BEES), rule={"event_count": 10}, force_flush=True)
    second = stream.send(said("Hm."))
    assert caller.get(first["name"])["metadata"]["state"] == "SEALED"
    assert second["metadata"]["window"] == 2
    assert recovered(caller, first, before, covered=1)


def test_next_window_in_line_is_recovered(caller: Caller) -> None:
    """A window that waited for the one before it is generated after it, though its end was not heard of."""
    before = caller.generations()
    stream = caller.stream()
    stream.send(said(BEES), rule={"event_count": 10}, force_flush=True)
    second = stream.send(said("I am a baker."), force_flush=True)
    caller.recover()
    caller.recover()
    assert caller.get(second["name"])["done"]
    assert caller.generations() == before + 2
    assert len(caller.facts(stream.scope)) == 2
