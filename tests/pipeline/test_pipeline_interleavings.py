"""Two at a time, without threads: before each AWS call of one, the other runs from its beginning to its end.

Whatever they are, afterwards every event is in exactly one window, every text is remembered once, and nothing that is
pending lacks a timer.
"""

from collections.abc import Callable
from typing import Any

import pytest

from streambank.model.window import WindowState
from streambank.pipeline.memories.deletion import delete_memory
from streambank.rules import triggers
from streambank.store.streams import Streams
from tests import aws
from tests.world import SCOPE, World, event

Step = Callable[[World], Any]


class Interruption:
    """Runs *other* before call number *at*; nothing is counted while it does."""

    def __init__(self, world: World, other: Step, at: int) -> None:
        self.world, self.other, self.at = world, other, at
        self.calls, self.is_inside = 0, False

    def __call__(self, model: Any, **_: Any) -> None:
        if self.is_inside:
            return
        self.calls += 1
        if self.calls - 1 == self.at:
            self.is_inside = True
            try:
                self.other(self.world)
            finally:
                self.is_inside = False


def _interrupted(world: World, one: Step, other: Step, at: int) -> int:
    """Carry out *one* with *other* in the middle; return how many calls *one* made."""
    interruption = Interruption(world, other, at)
    world.client.meta.events.register("before-call.dynamodb", interruption)
    try:
        one(world)
    finally:
        world.client.meta.events.unregister("before-call.dynamodb", interruption)
    return interruption.calls


def _clear(client: Any) -> None:
    for item in aws.dump(client):
        client.delete_item(TableName=aws.TABLE, Key={"PK": item["PK"], "SK": item["SK"]})


def say(*texts: str, **fields: Any) -> Step:
    return lambda world: world.ingest(*(event(text, f"id of {text}") for text in texts), streamId="s", **fields)


def anonymous(*texts: str) -> Step:
    return lambda world: world.ingest(*(event(text) for text in texts), streamId="s", key="one call")


def later(step: Step, **span: float) -> Step:
    def wait(world: World) -> None:
        world.clock.move(**span)
        step(world)

    return wait


def sweep(world: World) -> None:
    world.sweep()


def deliver(world: World) -> None:
    world.deliver()


def work(world: World) -> None:
    world.settle()


def other_stream(world: World) -> None:
    """Another stream of the scope says the same and is generated meanwhile."""
    world.ingest(event("b", "1"), event("z", "2"), streamId="t", forceFlush=True)
    world.settle()


def other_stream_says_a(world: World) -> None:
    """Another stream of the scope has said the same before."""
    world.ingest(event("a", "1"), streamId="t", forceFlush=True)
    world.settle()


def fail(world: World) -> None:
    """The attempt that is running fails, or so its machine believes."""
    payload = next(iter(world.executions.running.values()), None)
    if payload:
        world.tasks()["Fail"]({**payload, "outcome": "FAILED"})


def run(world: World) -> None:
    world.run()


def delete(world: World) -> None:
    """The memory of "a" is deleted, if it is there."""
    for memory in world.memories.of_scope("default", SCOPE, now=world.clock()):
        if memory.fact == "a":
            stores = {"memories": world.memories, "retry_policy": world.retry_policy, "id_secret": world.id_secret}
            delete_memory("default", memory.id, now=world.clock(), **stores)


IDLE = {"idleDuration": "60s"}
# What came before, what is interrupted, by what, and what is remembered in the end.
CASES: dict[str, tuple[list[Step], Step, Step, set[str]]] = {
    "two calls": ([], say("a", rule=IDLE), say("b", rule=IDLE), {"a", "b"}),
    "two calls that fill a window": (
        [say("a", rule={"eventCount": 3})],
        say("b"),
        say("c"),
        {"a", "b", "c"},
    ),
    "the same call twice": ([say("x", rule=IDLE)], say("a", "b"), say("a", "b"), {"x", "a", "b"}),
    "the same call without ids": ([], anonymous("a", "b"), anonymous("a", "b"), {"a", "b"}),
    "overlapping calls": ([say("x", rule=IDLE)], say("a", "b"), say("b", "c"), {"x", "a", "b", "c"}),
    "a call and a sweep that seals": ([say("a", rule=IDLE)], say("b"), later(sweep, seconds=61), {"a", "b"}),
    "a call and a sweep that disarms": (
        [say("a", rule=IDLE), say("a", forceFlush=True), deliver],
        say("b"),
        later(sweep, seconds=61),
        {"a", "b"},
    ),
    "a sweep and a call": ([say("a", rule=IDLE)], later(sweep, seconds=61), say("b"), {"a", "b"}),
    "a sweep that re-arms and a call": (
        [say("a", rule=IDLE), later(say("b"), seconds=30)],
        later(sweep, seconds=31),
        say("c"),
        {"a", "b", "c"},
    ),
    "a sweep and another": ([say("a", rule=IDLE)], later(sweep, seconds=61), sweep, {"a"}),
    "a sweep and a stream record": ([say("a", forceFlush=True)], later(sweep, seconds=1), deliver, {"a"}),
    "a call and a rule change": ([say("a", rule=IDLE)], say("b"), say(rule={"eventCount": 2}), {"a", "b"}),
    "a rule change and a call": ([say("a", rule=IDLE)], say(rule={"eventCount": 2}), say("b"), {"a", "b"}),
    "a force flush and a call": ([say("a", rule=IDLE)], say(forceFlush=True), say("b"), {"a", "b"}),
    "a generation and a call": ([say("a", "b", forceFlush=True), deliver], work, say("c"), {"a", "b", "c"}),
    "a generation and another of its scope": (
        [say("a", "b", forceFlush=True), deliver, deliver],
        run,
        other_stream,
        {"a", "b", "z"},
    ),
    "a generation and the deletion of what it repeats": (
        [other_stream_says_a, say("a", "b", forceFlush=True), deliver],
        work,
        delete,
        {"b"},
    ),
    "the deletion of what a generation repeats": (
        [other_stream_says_a, say("a", "b", forceFlush=True), deliver],
        delete,
        work,
        {"b"},
    ),
    "a generation and a sweep": (
        [say("a", "b", forceFlush=True), deliver, deliver],
        run,
        later(sweep, minutes=3),
        {"a", "b"},
    ),
    "a generation and a sweep that holds its events": (
        [say("a", "b", forceFlush=True), deliver, deliver],
        run,
        later(sweep, days=8),
        {"a", "b"},
    ),
    "a sweep that holds events and their generation": (
        [say("a"), say("b", forceFlush=True), deliver, deliver],
        later(sweep, days=8),
        run,
        {"a", "b"},
    ),
    "a failure and a twin that succeeds": (
        [say("a"), say("b", forceFlush=True), deliver, deliver],
        fail,
        run,
        {"a", "b"},
    ),
    "a generation and a twin that fails": ([say("a", "b", forceFlush=True), deliver, deliver], run, fail, {"a", "b"}),
}


def _begun(client: Any, before: list[Step]) -> World:
    _clear(client)
    world = World(client)
    for step in before:
        step(world)
    return world


def _try_all(client: Any, name: str, most: int | None) -> None:
    before, one, other, expected = CASES[name]
    calls = _interrupted(_begun(client, before), one, other, at=-1)
    assert calls > 1
    for at in aws.spread(range(calls), most):
        world = _begun(client, before)
        _interrupted(world, one, other, at)
        try:
            _check(world, expected)
        except AssertionError as error:
            raise AssertionError(f"{name}, before call {at}: {error}") from error


@pytest.mark.parametrize("name", CASES)
def test_whoever_comes_between_loses_and_doubles_nothing(client, name):
    """Between calls of the one, the other may run whole: each event in one window, each text remembered once."""
    _try_all(client, name, most=2)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_whoever_comes_between_any_two_calls_loses_and_doubles_nothing(client, name):
    """The same before every single call."""
    _try_all(client, name, most=None)


def _check(world: World, expected: set[str]) -> None:
    _pending_has_a_timer(world)
    world.finish()
    assert world.facts() == sorted(expected), "each text is one memory"
    heads = [item for item in aws.dump(world.client) if item["SK"]["S"] == "HEAD"]
    windows = [item for item in aws.dump(world.client) if item["SK"]["S"].startswith("W#")]
    assert all(item["cnt"]["N"] == "0" for item in heads)
    numbers = []
    for item in windows:
        sid = item["PK"]["S"].split("#")[2]
        window = world.windows.get("default", sid, int(item["win"]["N"]))
        assert window.state is WindowState.DONE
        stored = world.windows.events(window)
        assert [one.seq for one in stored] == list(range(window.first_seq, window.last_seq + 1)), "whole"
        numbers += [(sid, one.seq) for one in stored]
    assert sorted(numbers) == sorted(set(numbers)), "in one window only"
    assert len(numbers) == sum(int(item["seq"]["N"]) for item in heads), "all of them"
    processed = [item for item in aws.dump(world.client) if item["SK"]["S"][:2] in ("B#", "P#", "W#")]
    assert not [item["SK"]["S"] for item in processed if "ttl" not in item], "what is processed expires"
    said = sorted(text for item in windows for text in _texts(world, item))
    assert len(said) == len(set(said)) or "t" in {item["str"]["S"] for item in heads}, "no event twice"


def _texts(world: World, item: dict[str, Any]) -> list[str]:
    window = world.windows.get("default", item["PK"]["S"].split("#")[2], int(item["win"]["N"]))
    return [one.event.parts[0]["text"] for one in world.windows.events(window)]


def _pending_has_a_timer(world: World) -> None:
    streams = Streams(world.table)
    for item in aws.dump(world.client):
        if item["SK"]["S"] == "HEAD":
            head = streams.head("default", item["PK"]["S"].split("#")[2])
            due = triggers.next_due(head, head.rule)
            assert not head.count or (head.due and head.due <= triggers.round_up_to_second(due.at)), (
                "pending without a timer"
            )
