"""Events that are gone before their window was generated, and items that are ahead of their stream's head."""

from typing import Any

import pytest

from streambank.errors import Conflict, HeadBehind
from streambank.model.event import Event, KeyedEvent
from streambank.model.ids import OperationId
from streambank.model.operation import Operation, OperationState
from streambank.pipeline.generation.generate import GenerateCall, generate
from streambank.pipeline.generation.redrive import redrive
from streambank.wire import operation as wire
from tests import aws
from tests.world import SCOPE, World, event

FLUSH: dict[str, Any] = {"force_flush": True}
BUFFER: dict[str, Any] = {"rule": {"event_count": 1000}}


@pytest.fixture
def world(client: Any) -> World:
    return World(client)


def _items(world: World, prefix: str) -> list[dict[str, Any]]:
    return [item for item in aws.dump(world.client) if item["SK"]["S"].startswith(prefix)]


def _delete(world: World, *items: dict[str, Any]) -> None:
    for item in items:
        world.client.delete_item(TableName=aws.TABLE, Key={"PK": item["PK"], "SK": item["SK"]})


def _put(world: World, item: dict[str, Any], **changes: dict[str, str]) -> None:
    world.client.put_item(TableName=aws.TABLE, Item=item | changes)


def _parked(world: World, *gone: int) -> Operation:
    """Send e0 to e3 in four calls, delete the batches of the *gone* ones (all by default) and generate the window."""
    for number in range(4):
        world.ingest(event(f"fact {number}", f"e{number}"), **BUFFER)
    sent = world.ingest(force_flush=True)
    batches = _items(world, "B#")
    _delete(world, *(batches[number] for number in gone or range(4)))
    world.settle()
    return world.operation(sent.operation.id)


def _redrive(world: World, operation: OperationId) -> Operation:
    redrive("default", operation, context=world.redriving)
    world.settle()
    return world.operation(operation)


@pytest.mark.parametrize("gone", [(), (0,), (1, 2), (3,)])
def test_a_window_without_all_its_events_is_never_done(world: World, gone: tuple[int, ...]) -> None:
    """Where events are gone, the window is parked at once and its operation says why; nothing of it is remembered."""
    operation = _parked(world, *gone)
    assert operation.state is OperationState.PARKED
    assert operation.window
    assert (operation.window.failure, operation.window.failures) == ("EVENTS_MISSING", 1)
    reply = wire.operation(operation, "banks/default")
    assert (reply["done"], reply["error"]["code"]) == (True, 15)
    assert "EVENTS_MISSING" in reply["error"]["message"]
    assert (world.facts(), world.extractor.requests) == ([], [])


def test_expired_events_are_missing_too(world: World) -> None:
    """A service that stood still for longer than events are kept parks the window; what is sent again is new."""
    sent = world.ingest(event("fact", "e0"), **FLUSH)
    world.clock.move(days=91)
    _delete(world, *_items(world, "B#"), *_items(world, "D#"))
    world.finish()
    assert world.operation(sent.operation.id).state is OperationState.PARKED
    again = world.ingest(event("fact", "e0"), **FLUSH)
    world.settle()
    assert world.operation(again.operation.id).state is OperationState.DONE
    assert world.facts() == ["fact"]


@pytest.mark.parametrize("gone", [(), (0,), (1, 2)])
def test_events_that_are_sent_again_heal_their_window(world: World, gone: tuple[int, ...]) -> None:
    """Missing events are stored again where they were, each once; a redrive then generates the whole window."""
    parked = _parked(world, *gone)
    events = [event(f"fact {number}", f"e{number}") for number in range(4)]
    again = world.ingest(*events)
    missing = len(gone) or 4
    assert (again.accepted, again.duplicates, again.operation.id) == (missing, 4 - missing, parked.id)
    repeated = world.ingest(*events)
    assert (repeated.accepted, repeated.duplicates) == (0, 4)
    healed = _redrive(world, parked.id)
    assert healed.state is OperationState.DONE
    assert healed.window
    assert healed.window.outcome["covered"] == 4
    assert world.facts() == [f"fact {number}" for number in range(4)]


def test_a_restored_event_expires_once_its_window_is_done(world: World) -> None:
    """Nothing unprocessed expires, and everything processed does."""
    parked = _parked(world, 1)
    world.ingest(event("fact 1", "e1"))
    assert all("ttl" not in item for item in _items(world, "B#"))
    _redrive(world, parked.id)
    world.finish()
    assert all("ttl" in item for item in _items(world, "B#"))


def test_a_history_restores_what_is_missing_and_adds_what_is_new(world: World) -> None:
    """A client that sends its whole history heals an old window, and its new event goes into the open one."""
    parked = _parked(world, 2)
    world.ingest(event("fact 4", "e4"), **FLUSH)
    world.settle()
    history = [event(f"fact {number}", f"e{number}") for number in range(6)]
    sent = world.ingest(*history, **FLUSH)
    assert (sent.accepted, sent.duplicates, sent.operation.id.window) == (2, 4, 3)
    world.settle()
    _redrive(world, parked.id)
    assert world.facts() == [f"fact {number}" for number in range(6)]


def test_other_content_under_the_id_restores_nothing(world: World) -> None:
    """The first content of an id stays the only one, also where it is gone: the reply counts a conflict."""
    parked = _parked(world, 1)
    sent = world.ingest(event("something else", "e1"))
    assert (sent.accepted, sent.conflicts) == (0, ("e1",))
    assert _redrive(world, parked.id).state is OperationState.PARKED


def test_a_redrive_of_half_a_window_parks_it_again(world: World) -> None:
    """Without all events no attempt succeeds, and none is made by the service itself."""
    parked = _parked(world, 1, 2)
    world.ingest(event("fact 1", "e1"))
    assert _redrive(world, parked.id).state is OperationState.PARKED
    attempts = world.executions.starts
    world.finish()
    assert world.executions.starts == attempts


def test_events_of_a_window_that_goes_on_are_not_restored(world: World) -> None:
    """A window that is pending again takes no event: its generation may have read it already."""
    parked = _parked(world, 1)
    redrive("default", parked.id, context=world.redriving)
    sent = world.ingest(event("fact 1", "e1"))
    assert (sent.accepted, sent.duplicates) == (0, 1)


def test_a_direct_generation_without_its_events_is_parked(world: World) -> None:
    """A window of a stream without a head fails in the same way."""
    turn = KeyedEvent(Event("user", ({"text": "fact"},)), None, 20)
    begun = generate(GenerateCall("default", SCOPE, "token", events=(turn,)), context=world.generating)
    _delete(world, *_items(world, "B#"))
    world.settle()
    assert world.operation(begun.id).state is OperationState.PARKED


def test_a_leftover_of_a_direct_generation_stops_no_other(world: World) -> None:
    """A batch under the key of a window that is not there belongs to nobody: the same call again replaces it."""
    turn = KeyedEvent(Event("user", ({"text": "fact"},)), None, 20)
    call = GenerateCall("default", SCOPE, "token", events=(turn,))
    generate(call, context=world.generating)
    _delete(world, *_items(world, "W#"))
    begun = generate(call, context=world.generating)
    world.settle()
    assert world.operation(begun.id).state is OperationState.DONE
    assert world.facts() == ["fact"]


# ---- items ahead of the head


def _orphan(world: World, *, seq: int, **changes: dict[str, str]) -> dict[str, Any]:
    """Return a batch at number *seq* that no head knows: the copy of another stream's."""
    batch = _items(world, "B#")[0]
    return batch | {"SK": {"S": f"B#{seq:012}"}, "seq": {"N": str(seq)}} | changes


@pytest.mark.parametrize("count", [1, 3])
def test_a_batch_ahead_of_the_head_stops_no_ingest(world: World, count: int) -> None:
    """Events under numbers that no head gave out are in no window: they give way, and are not generated."""
    world.ingest(event("first", "e0"), **BUFFER)
    orphan = _orphan(world, seq=2)
    world.ingest(event("second", "e1"), stream_id="other", **BUFFER)
    for number in range(count):
        _put(world, orphan, SK={"S": f"B#{2 + number:012}"})
    sent = world.ingest(event("third", "e2"), event("fourth", "e3"), **FLUSH)
    assert sent.accepted == 2
    world.settle()
    assert world.operation(sent.operation.id).state is OperationState.DONE
    assert world.facts() == ["first", "fourth", "third"]


def test_a_batch_without_any_head_stops_no_ingest(world: World) -> None:
    """A stream whose head is gone begins anew."""
    world.ingest(event("first", "e0"), **BUFFER)
    _delete(world, *_items(world, "HEAD"))
    sent = world.ingest(event("first", "e0"), **FLUSH)
    world.settle()
    assert sent.accepted == 1
    assert world.facts() == ["first"]


def test_a_head_behind_its_stream_catches_up(world: World) -> None:
    """With an older head each event is still in one window, and generated once; what was in no window is new again."""
    world.ingest(event("first", "e0"), **BUFFER)
    [old] = _items(world, "HEAD")
    world.ingest(event("second", "e1"), **FLUSH)
    world.settle()
    world.ingest(event("third", "e2"), **BUFFER)
    _put(world, old)
    sent = world.ingest(event("third", "e2"), event("fourth", "e3"), event("second", "e1"), **FLUSH)
    assert (sent.accepted, sent.operation.id.window) == (2, 2)
    world.settle()
    assert world.operation(sent.operation.id).state is OperationState.DONE
    assert world.facts() == ["first", "fourth", "second", "third"]


def test_the_sweep_moves_a_head_past_a_window_that_is_ahead(world: World) -> None:
    """A seal that meets its own window is no race: the head goes on, and the stream is not due for ever."""
    world.ingest(event("first", "e0"), rule={"idle_duration": "60s"})
    [old] = _items(world, "HEAD")
    world.finish()
    _put(world, old)
    world.finish()
    assert world.facts() == ["first"]
    assert world.streams.head("default", old["PK"]["S"].split("#")[-1]).window == 2  # type: ignore[union-attr]


def test_a_race_mends_nothing(world: World) -> None:
    """Another writer's batch is no orphan: the later commit is refused, and deletes nothing."""
    world.ingest(event("first", "e0"), **BUFFER)
    [head] = [world.streams.head("default", item["PK"]["S"].split("#")[-1]) for item in _items(world, "HEAD")]
    assert head
    world.ingest(event("second", "e1"), **BUFFER)
    before = aws.dump(world.client)
    with pytest.raises(Conflict) as refusal:
        world.streams.commit(head, head, (), now=world.clock(), retention_policy=world.retention_policy)
    assert not isinstance(refusal.value, HeadBehind)
    assert aws.dump(world.client) == before
