"""A window that waits for the one before it is off index `due`, and whatever ends that one makes it due."""

from dataclasses import replace
from datetime import timedelta

import pytest

from streambank.errors import Conflict
from streambank.model.plan import Completion, Slice
from streambank.model.window import Attempt, WindowState
from streambank.store import keys
from tests import aws
from tests.store.building import NOW, SCOPE
from tests.world import event

MINUTE = timedelta(minutes=1)
LATER = NOW + timedelta(days=99)


@pytest.fixture
def pair(world):
    """Two sealed windows of one stream."""
    receipt = world.ingest(event("a"))
    world.deliver()
    world.ingest(event("b"))
    world.deliver()
    sid = receipt.operation.id.sid
    return world.windows.get("default", sid, 1), world.windows.get("default", sid, 2)


def again(world, window):
    return world.windows.get("default", window.stream.sid, window.number)


def complete(world, window, due=None):
    """End *window* as its last slice does."""
    piece = Slice(Attempt("default", window.stream.sid, window.number, window.attempt), 0, 0, 0, ())
    world.memories.commit_slice("default", SCOPE, piece, Completion({}, NOW, LATER, due), now=NOW)


def test_a_window_waits_off_the_index(world, pair):
    """The window is not due any more, and the one before it says that its end must make it due."""
    first, second = pair
    assert world.windows.wait(second, None)
    assert (again(world, second).due, again(world, first).is_awaited) == (None, True)
    world.windows.make_next_due(first, NOW + MINUTE)
    assert again(world, second).due == NOW + MINUTE


def test_a_window_waits_only_for_a_pending_one(world, pair):
    """After the end of the window before it, nobody would make it due again: it stays on the index."""
    first, second = pair
    complete(world, first)
    before = aws.dump(world.client)
    assert not world.windows.wait(second, None)
    assert aws.dump(world.client) == before


def test_a_window_waits_only_at_its_own_attempt(world, pair):
    """A sweep that read an older attempt takes nothing off the index, and marks nothing."""
    _, second = pair
    before = aws.dump(world.client)
    assert not world.windows.wait(replace(second, attempt=7), None)
    assert aws.dump(world.client) == before


def test_no_window_ends_without_its_successor(world, pair):
    """A completion that has not read the mark is refused; one that has keeps the window due until it is finished."""
    first, second = pair
    world.windows.wait(second, None)
    with pytest.raises(Conflict) as refused:
        complete(world, first)
    assert refused.value.failed(0)
    assert again(world, first).state is WindowState.SEALED
    complete(world, first, due=NOW + MINUTE)
    assert (again(world, first).state, again(world, first).due) == (WindowState.DONE, NOW + MINUTE)


def test_no_window_ends_without_its_events(world, pair):
    """A completion that has not read that the expiry of its events is suspended is refused: nobody would restore it."""
    first, _ = pair
    world.windows.suspend_expiry(first)
    with pytest.raises(Conflict) as refused:
        complete(world, first)
    assert refused.value.failed(0)
    assert again(world, first).state is WindowState.SEALED
    complete(world, first, due=NOW + MINUTE)
    assert (again(world, first).state, again(world, first).due) == (WindowState.DONE, NOW + MINUTE)


def test_an_ordinary_completion_is_not_due(world, pair):
    """Where nothing is left to do, the window leaves index `due` with its end."""
    first, _ = pair
    complete(world, first)
    assert (again(world, first).state, again(world, first).due) == (WindowState.DONE, None)


def test_only_a_pending_successor_is_made_due(world, pair):
    """Neither a window that has ended nor one that is not sealed yet gets a due time."""
    first, second = pair
    complete(world, second)
    before = aws.dump(world.client)
    world.windows.make_next_due(first, NOW)
    world.windows.make_next_due(second, NOW)
    assert aws.dump(world.client) == before
    assert world.table.get(keys.window("default", first.stream.sid, 3)) is None


def test_a_redriven_window_stays_due(world, pair):
    """A sweep that read the window as parked does not take it off the index after its redrive."""
    first, _ = pair
    world.windows.suspend_expiry(first)
    world.windows.record_failure(first, failure="FAILED", failures=5, due=None, now=NOW)
    parked = again(world, first)
    world.windows.redrive(parked, due=NOW + MINUTE)
    world.windows.disarm(parked)
    assert again(world, first).due == NOW + MINUTE
