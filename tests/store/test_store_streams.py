from dataclasses import replace
from datetime import timedelta

import pytest

from streambank.errors import Conflict
from streambank.model import ids
from streambank.model.event import Event, EventMarker, KeyedEvent
from streambank.model.rule import Reason, TriggerRule
from streambank.model.stream import Head, StreamId
from streambank.rules import window
from streambank.store import keys
from streambank.store.streams import RetentionPolicy
from tests import aws
from tests.store.building import NOW, SCOPE
from tests.store.building import keyed as keyed_

STREAM = StreamId("default", ids.stream_key(SCOPE, ""), SCOPE, "default")
LIVES = RetentionPolicy(timedelta(days=45), timedelta(days=7))
RULE = TriggerRule(10)


def keyed(text, name=None):
    return keyed_(Event("user", ({"text": text},), name))


def committed(world, before, *fresh, now=NOW):
    from streambank.model.stream import IngestCall

    call = IngestCall(STREAM, fresh, RULE)
    after = window.add_events(before or Head(STREAM), call, fresh, bank_rule=None, now=now)
    return world.streams.commit(before, after, fresh, now=now, retention_policy=LIVES)


def test_a_commit_is_what_is_read_next(world):
    """Head, markers and bank come back in one reading, as the commit left them."""
    one, two = keyed("a", "e1"), keyed("b")
    head = committed(world, None, one, two)
    found = world.streams.read_snapshot(STREAM, [one.key, "unknown"], now=NOW)
    assert found.head == head == world.streams.head("default", STREAM.sid)
    assert found.bank.id == "default"
    assert found.markers == {one.key: EventMarker(1, 1, one.event.fingerprint())}
    assert (head.version, head.seq, head.count) == (1, 2, 2)


def test_every_commit_counts_the_version_up(world):
    """A head is written under the version that was read, housekeeping too."""
    head = committed(world, None, keyed("a"))
    head = committed(world, head, keyed("b"))
    world.streams.rearm(head, NOW + timedelta(minutes=1))
    after = world.streams.head("default", STREAM.sid)
    assert (after.version, after.due) == (3, NOW + timedelta(minutes=1))
    with pytest.raises(Conflict):
        world.streams.rearm(head, None)


@pytest.mark.parametrize("is_first", [True, False])
def test_an_old_reading_writes_nothing(world, is_first):
    """Whoever read the head before somebody else wrote it is turned away whole: no event, no marker."""
    head = committed(world, None, keyed("a"))
    committed(world, head, keyed("b"))
    before = aws.dump(world.client)
    with pytest.raises(Conflict) as conflict:
        committed(world, None if is_first else head, keyed("c", "e3"))
    assert conflict.value.failed(0)
    assert aws.dump(world.client) == before


def test_events_and_ids_live_as_long_as_they_should(world):
    """Batches expire with their retention, markers with the dedup horizon, the head never."""
    committed(world, None, keyed("a", "e1"))
    batch = world.table.get(keys.batch("default", STREAM.sid, 1))
    marker = world.table.get(keys.marker("default", STREAM.sid, ids.event_key("e1")))
    assert batch["ttl"] == (NOW + LIVES.retention).timestamp()
    assert marker["ttl"] == (NOW + LIVES.dedup_horizon).timestamp()
    assert "ttl" not in world.table.get(keys.head("default", STREAM.sid))


def test_an_expired_marker_is_no_marker(world):
    """DynamoDB deletes late: a marker whose time has passed is neither seen nor in the way."""
    one = keyed("a", "e1")
    head = committed(world, None, one)
    last = NOW + LIVES.dedup_horizon
    assert world.streams.read_snapshot(STREAM, [one.key], now=last).markers
    later = last + timedelta(seconds=1)
    assert world.streams.read_snapshot(STREAM, [one.key], now=later).markers == {}
    head = committed(world, head, one, now=later)
    assert world.streams.read_snapshot(STREAM, [one.key], now=later).markers[one.key].seq == 2


def test_a_live_marker_is_in_the_way(world):
    """An id that was accepted meanwhile cannot be accepted again, even by a writer who does not know it (I1)."""
    one = keyed("a", "e1")
    head = committed(world, None, one)
    before = aws.dump(world.client)
    with pytest.raises(Conflict) as conflict:
        committed(world, head, one)
    assert not conflict.value.failed(0)
    assert aws.dump(world.client) == before


def test_a_seal_closes_a_window_once(world):
    """Sealing writes window and head together; sealing the same reading again is turned away."""
    head = committed(world, None, keyed("a"), keyed("b"))
    opened, closed = window.seal(head, Reason.FORCE_FLUSH, RULE, now=NOW)
    sealed = world.streams.seal(head, opened, closed)
    assert world.streams.head("default", STREAM.sid) == sealed == replace(opened, version=2)
    assert world.windows.get("default", STREAM.sid, 1) == closed
    before = aws.dump(world.client)
    with pytest.raises(Conflict):
        world.streams.seal(head, opened, closed)
    assert aws.dump(world.client) == before


def test_large_events_take_several_batches(world):
    """Events that do not fit one item are spread over batches whose numbers go on."""
    large = [KeyedEvent(Event("user", ({"text": str(number)},)), None, 200_000) for number in range(3)]
    head = committed(world, None, keyed("first"))
    head = committed(world, head, *large)
    _, closed = window.seal(head, Reason.FORCE_FLUSH, RULE, now=NOW)
    batches = [item["SK"]["S"] for item in aws.dump(world.client) if item["SK"]["S"].startswith("B#")]
    assert [int(sk[2:]) for sk in batches] == [1, 2, 3, 4]
    assert [found.seq for found in world.windows.events(closed)] == [1, 2, 3, 4]


def test_an_unknown_bank_has_an_empty_snapshot(world):
    """A stream of an unknown bank has neither head nor bank."""
    found = world.streams.read_snapshot(replace(STREAM, bank="nobody"), [], now=NOW)
    assert (found.head, found.bank, found.markers) == (None, None, {})
    assert world.streams.head_and_bank("nobody", STREAM.sid) == (None, None)
