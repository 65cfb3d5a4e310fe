from datetime import timedelta

import pytest

from streambank.model import ids
from streambank.model.event import Event, KeyedEvent
from streambank.model.window import WindowState
from streambank.pipeline.generation.generate import DIRECT_STREAM, GenerateCall, generate
from streambank.store import events as events_module
from streambank.store import keys
from streambank.store.actions import Update, present
from streambank.store.events import Events
from tests.store.building import SCOPE
from tests.world import event

OTHER = {"user_id": "u2"}


def looked(world, *, scope=SCOPE, pending_only=False, bank="default"):
    return Events(world.table).of_scope(bank, scope, pending_only=pending_only, now=world.clock())


def texts(found):
    return [one.event.event.parts[0]["text"] for one in found.events]


def told(world, *said, flush=False, stream="s", **more):
    """Ingest a call of events, a second after the last, and let it be generated where it is flushed."""
    world.clock.move(seconds=1)
    world.ingest(*map(event, said), streamId=stream, forceFlush=flush, rule={"eventCount": 100}, **more)
    if flush:
        world.settle()


def test_the_newest_events_of_all_streams_come_first(world):
    """Streams are read together by arrival; of one call the last event is the newest."""
    told(world, "one", "two", stream="a")
    told(world, "three", stream="b")
    told(world, "four", stream="a")
    found = looked(world)
    assert texts(found) == ["four", "three", "two", "one"]
    assert [(one.stream.name, one.event.seq) for one in found.events] == [("a", 3), ("b", 1), ("a", 2), ("a", 1)]
    assert not found.is_truncated


def test_no_event_crosses_a_scope_or_a_bank(world):
    """Only streams of the very scope are looked at (I8)."""
    told(world, "mine")
    told(world, "theirs", scope=OTHER)
    assert texts(looked(world)) == ["mine"]
    assert texts(looked(world, scope=OTHER)) == ["theirs"]
    assert looked(world, scope={**SCOPE, "more": "x"}).events == ()
    assert looked(world, bank="b2").events == ()


def test_events_are_pending_until_their_window_is_done(world):
    """Events of an open window and of a sealed one are pending; after the generation they are not."""
    told(world, "old", flush=True)
    told(world, "open")
    assert [(one.is_pending, one.window) for one in looked(world).events] == [(True, 2), (False, 1)]
    world.clock.move(seconds=1)
    world.ingest(streamId="s", forceFlush=True)  # sealed, and nothing generates it yet
    told(world, "next")
    assert [(one.is_pending, one.window) for one in looked(world).events] == [(True, 3), (True, 2), (False, 1)]
    assert texts(looked(world, pending_only=True)) == ["next", "open"]
    world.settle()
    assert [one.is_pending for one in looked(world).events] == [True, False, False]
    assert texts(looked(world, pending_only=True)) == ["next"]


def test_nothing_pending_is_nothing_read(world):
    """A stream whose windows are all done has no pending event."""
    told(world, "old", flush=True)
    assert looked(world, pending_only=True).events == ()


def test_expired_events_are_gone_at_once(world):
    """At the end of its retention no search shows an event, though DynamoDB may keep it for two days (I9)."""
    told(world, "old", flush=True)
    world.clock.instant += world.retention_policy.retention - timedelta(seconds=1)
    assert texts(looked(world)) == ["old"]
    world.clock.move(seconds=2)
    assert looked(world).events == ()


def test_erased_windows_show_nothing(world):
    """What was erased is in no search, whether or not its items are gone."""
    told(world, "secret", flush=True)
    told(world, "open")
    key = keys.window("default", ids.stream_key(SCOPE, "s"), 1)
    world.table.write(Update(key, {"st": WindowState.ERASED}, present()))
    assert texts(looked(world)) == ["open"]


@pytest.mark.parametrize(("name", "most"), [("MAX_EVENTS", 2), ("MAX_BYTES", 1), ("MAX_STREAMS", 1)])
def test_a_search_does_not_look_at_everything(world, monkeypatch, name, most):
    """Beyond a bound on events, bytes or streams the newest are looked at, and it says that there are more."""
    told(world, "one", stream="a")
    told(world, "two", stream="b")
    told(world, "three", stream="b")
    monkeypatch.setattr(events_module, name, most)
    found = looked(world)
    assert found.is_truncated
    assert texts(found)[0] == "three"
    assert len(found.events) < 3


def test_what_was_generated_directly_is_looked_at_too(world):
    """A window that no stream's head stands behind is found by the registry, pending until it is done."""
    said = KeyedEvent(Event("user", ({"text": "hello"},)), None, 100)
    call = GenerateCall("default", SCOPE, "token", (said,))
    generate(call, context=world.generating)
    [one] = looked(world, pending_only=True).events
    assert (one.is_pending, one.window, one.stream.name) == (True, 1, DIRECT_STREAM)
    world.settle()
    assert looked(world, pending_only=True).events == ()
    assert texts(looked(world)) == ["hello"]
