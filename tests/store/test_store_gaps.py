"""The windows of a stream from the newest on, and events that are missing from one."""

import pytest

from streambank.errors import Conflict
from streambank.model.window import WindowState
from streambank.store import keys
from streambank.wire.ingest import ingest_call
from tests import aws
from tests.store.building import NOW
from tests.world import event


@pytest.fixture
def windows(world):
    """Three windows of one stream, of one event each."""
    for number in (1, 2, 3):
        receipt = world.ingest(event(f"said {number}", str(number)), forceFlush=True)
        world.deliver()
    return [world.windows.get("default", receipt.operation.id.sid, number) for number in (1, 2, 3)]


def head(world, window):
    return world.table.get(keys.head("default", window.stream.sid))


def test_windows_come_from_the_newest_on(world, windows):
    """All of them, or those before a number, which is not among them itself."""
    sid = windows[0].stream.sid
    assert [one.number for one in world.windows.newest_first("default", sid)] == [3, 2, 1]
    assert [one.number for one in world.windows.newest_first("default", sid, before=3)] == [2, 1]
    assert list(world.windows.newest_first("default", sid, before=1)) == []


def test_a_gap_is_recorded_once(world, windows):
    """The head says that events are missing, under a new version; a second time changes nothing."""
    before = head(world, windows[0])
    world.windows.record_gap(windows[0])
    after = head(world, windows[0])
    assert (after["gap"], after["ver"]) == (1, before["ver"] + 1)
    assert world.streams.head("default", windows[0].stream.sid).has_gaps
    world.windows.record_gap(windows[0])
    assert head(world, windows[0]) == after


def test_a_gap_of_a_stream_without_a_head_is_not_recorded(world, windows):
    """A direct generation has no head, and gets none."""
    key = keys.head("default", windows[0].stream.sid)
    world.client.delete_item(TableName=aws.TABLE, Key={"PK": {"S": key.pk}, "SK": {"S": key.sk}})
    world.windows.record_gap(windows[0])
    assert head(world, windows[0]) is None


def lost(world, window):
    """Delete the window's event, and return it as it was stored."""
    [stored] = world.windows.events(window)
    key = keys.batch("default", window.stream.sid, stored.seq)
    world.client.delete_item(TableName=aws.TABLE, Key={"PK": {"S": key.pk}, "SK": {"S": key.sk}})
    assert world.windows.events(window) == []
    return stored


def test_missing_events_of_a_parked_window_are_stored_again(world, windows):
    """They have their number and the window's arrival, and no expiry; what is there is not replaced."""
    window = windows[1]
    stored = lost(world, window)
    keyed = in_call(event("said 2", "2"))
    with pytest.raises(Conflict):
        world.windows.restore_events(window, {stored.seq: keyed})
    world.windows.record_failure(window, failure="FAILED", failures=5, due=None, now=NOW)
    parked = world.windows.get("default", window.stream.sid, 2)
    assert parked.state is WindowState.PARKED
    world.windows.restore_events(parked, {stored.seq: keyed})
    assert world.windows.events(parked) == [stored]
    assert "ttl" not in world.table.get(keys.batch("default", window.stream.sid, stored.seq))
    with pytest.raises(Conflict):
        world.windows.restore_events(parked, {stored.seq: keyed})


def in_call(one):
    """Return the event as a call has it."""
    body = {"scope": {"user_id": "u1"}, "directContentsSource": {"events": [one]}}
    [keyed] = ingest_call(body, bank="default", idempotency_key=None).events
    return keyed
