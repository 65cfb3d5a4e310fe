"""What a generation works out goes with its window, and stays while the window is not done."""

from dataclasses import replace
from datetime import timedelta

import pytest

from streambank.errors import ModelUnavailable
from streambank.model.window import WindowState
from tests import aws
from tests.world import event


class Refusing:
    """A consolidator that is out of reach while *is_down*."""

    def __init__(self, other):
        self.other, self.is_down = other, True

    def consolidate(self, request):
        if self.is_down:
            raise ModelUnavailable("out of reach")
        return self.other.consolidate(request)


def expiries(world, kind):
    return [
        int(item["ttl"]["N"]) if "ttl" in item else None
        for item in aws.dump(world.client)
        if item["SK"]["S"].startswith(kind)
    ]


@pytest.fixture
def stuck(world):
    """A second window whose candidates are stored, and whose consolidation fails until it is parked."""
    world.ingest(event("I like tea"))
    world.settle()
    world.consolidator = Refusing(world.consolidator)
    receipt = world.ingest(event("I like jam"))
    world.finish()
    return world.windows.get("default", receipt.operation.id.sid, 2)


def test_results_outlive_their_window_and_then_go(world):
    """Candidates, plan and verdicts of a window expire, none before the record that shows them."""
    world.ingest(event("I like tea"), event("I like jam"))
    world.settle()
    [window] = expiries(world, "W#")
    results = expiries(world, "P#")
    assert len(results) == 3
    assert all(window < found < window + timedelta(days=30).total_seconds() for found in results)


def test_results_of_an_unfinished_window_never_expire(world, stuck):
    """While a window waits or is parked what it has worked out stays; its end gives all of it an expiry."""
    assert stuck.state is WindowState.PARKED
    assert expiries(world, "P#000000000002") == [None]
    world.consolidator.is_down = False
    world.clock.move(days=200)
    world.windows.redrive(stuck, due=world.clock())
    world.recover(1)
    world.settle()
    assert again(world, stuck).state is WindowState.DONE
    kept = expiries(world, "P#000000000002")
    assert len(kept) == 3
    assert None not in kept
    assert min(kept) > max(expiries(world, "W#000000000002"))


def again(world, window):
    return world.windows.get("default", window.stream.sid, window.number)


def test_results_stored_during_a_suspension_do_not_expire(world, stuck):
    """Results of a later attempt have no expiry while that of the window is suspended."""
    assert world.retention_policy.of_results(stuck, now=world.clock()) is None
    assert (
        world.retention_policy.of_results(replace(stuck, is_expiry_suspended=False), now=world.clock()) > world.clock()
    )
