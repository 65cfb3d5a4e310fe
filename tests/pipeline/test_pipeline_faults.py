"""Every AWS call of every pipeline function, killed before and after: the sweep recovers, nothing is lost or doubled.

A dry run of each story lists its calls; then the story is told once for each of them and each side, the process
dies there, the caller sends again what was not acknowledged, and only the sweep works from then on.
"""

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest

from streambank.model.change_record import ChangeKind
from streambank.model.ids import scope_id
from streambank.model.window import WindowState
from streambank.pipeline.banks import BankChange, create_bank, delete_bank
from streambank.pipeline.generation.redrive import redrive
from streambank.pipeline.memories.deletion import delete_memory
from tests import aws
from tests.aws import Killed
from tests.world import SCOPE, World, event


@dataclass
class Killer:
    """Counts AWS calls, and kills before or after one of them, once."""

    at: int | None = None
    after: bool = False
    calls: int = 0
    names: list[str] = field(default_factory=list)

    def before(self, name: str) -> None:
        self.names.append(name)
        if self.calls == self.at and not self.after:
            self.at = None
            raise Killed(name)

    def done(self, name: str) -> None:
        is_here = self.calls == self.at
        self.calls += 1
        if is_here and self.after:
            self.at = None
            raise Killed(name)


class KilledExecutions(aws.Executions):
    """Step Functions, counted and killed like DynamoDB."""

    def __init__(self, killer: Killer) -> None:
        super().__init__()
        self.killer = killer

    def start_execution(self, **parameters: Any) -> dict[str, Any]:
        self.killer.before("StartExecution")
        reply = super().start_execution(**parameters)
        self.killer.done("StartExecution")
        return reply

    def describe_execution(self, **parameters: Any) -> dict[str, Any]:
        self.killer.before("DescribeExecution")
        reply = super().describe_execution(**parameters)
        self.killer.done("DescribeExecution")
        return reply


class Failing:
    """A model that is out of reach as long as it is told so."""

    def __init__(self, model: Any) -> None:
        self.model, self.is_down = model, False

    def extract(self, request: Any) -> Any:
        from streambank.errors import ModelUnavailable

        if self.is_down:
            raise ModelUnavailable("scripted")
        return self.model.extract(request)


Step = Callable[[World], Any]


def ingest(*events: dict[str, Any], **fields: Any) -> Step:
    return lambda world: world.ingest(*events, **fields)


def settle(world: World) -> None:
    world.settle()


def tick(world: World) -> None:
    world.sweep()


def wait(**span: float) -> Step:
    return lambda world: world.clock.move(**span)


def model_down(world: World) -> None:
    world.extractor.is_down = True


def model_up(world: World) -> None:
    world.extractor.is_down = False


def run(world: World) -> None:
    world.run()


def die(world: World) -> None:
    world.executions.die()


# Every story sends events with ids, so that a caller may send again; what it remembers in the end is its texts.
STORIES: dict[str, tuple[list[Step], set[str]]] = {
    "count": (
        [
            ingest(event("a", "1"), event("b", "2"), streamId="s", rule={"eventCount": 3, "overlapEventCount": 1}),
            ingest(event("c", "3"), streamId="s"),
            settle,
            ingest(event("d", "4"), event("a", "1"), streamId="s", forceFlush=True),
            settle,
        ],
        {"a", "b", "c", "d"},
    ),
    "waiting": (
        [
            model_down,
            ingest(event("a", "1"), streamId="s", forceFlush=True),
            settle,
            ingest(event("b", "2"), streamId="s", forceFlush=True),
            ingest(event("c", "3"), streamId="s", forceFlush=True),
            settle,
            wait(minutes=3),
            tick,
            run,
            model_up,
            wait(minutes=6),
            tick,
            run,
            tick,
        ],
        {"a", "b", "c"},
    ),
    "idle": (
        [
            ingest(event("a", "1"), streamId="s", rule={"idleDuration": "60s"}, revisionLabels={"k": "v"}),
            wait(seconds=61),
            tick,
            tick,
            run,
            ingest(streamId="s", rule={"eventCount": 2}),
            ingest(event("b", "2"), streamId="s", metadata={"m": {"stringValue": "x"}}),
            wait(hours=25),
            tick,
            wait(minutes=3),
            tick,
            run,
        ],
        {"a", "b"},
    ),
    "late": (  # a due window is sealed by the call that comes next, not by a sweep
        [
            ingest(event("a", "1"), streamId="s", rule={"idleDuration": "60s"}),
            wait(seconds=90),
            ingest(event("b", "2"), streamId="s"),
            settle,
        ],
        {"a", "b"},
    ),
    "failure": (
        [
            model_down,
            ingest(event("a", "1"), streamId="s"),
            settle,
            wait(minutes=2),
            tick,
            run,
            model_up,
            wait(minutes=6),
            tick,
            run,
        ],
        {"a"},
    ),
    "death": (  # the execution ends without a word
        [
            ingest(event("a", "1"), streamId="s"),
            lambda world: (world.deliver(), world.deliver()),
            die,
            wait(minutes=3),
            tick,
            wait(minutes=3),
            tick,
            run,
        ],
        {"a"},
    ),
    "same": (  # two streams of one scope say the same
        [
            ingest(event("a", "1"), event("b", "2"), streamId="s"),
            ingest(event("b", "1"), event("c", "2"), streamId="t"),
            settle,
        ],
        {"a", "b", "c"},
    ),
}


def _clear(client: Any) -> None:
    for item in aws.dump(client):
        client.delete_item(TableName=aws.TABLE, Key={"PK": item["PK"], "SK": item["SK"]})


def _world(client: Any, killer: Killer) -> World:
    world = World(client, executions=KilledExecutions(killer))
    world.extractor = Failing(world.extractor)
    return world


def _armed(client: Any, killer: Killer) -> Callable[[], None]:
    """Let *killer* see every DynamoDB call until the returned function is called."""
    before = lambda model, **_: killer.before(model.name)
    after = lambda model, **_: killer.done(model.name)
    client.meta.events.register("before-call.dynamodb", before)
    client.meta.events.register("after-call.dynamodb", after)

    def disarm() -> None:
        client.meta.events.unregister("before-call.dynamodb", before)
        client.meta.events.unregister("after-call.dynamodb", after)

    return disarm


def _tell(world: World, steps: list[Step]) -> None:
    """Tell a story; whoever dies in a step comes again: a caller, a function, a stream that was not acknowledged."""
    for step in steps:
        for _ in range(2):
            try:
                step(world)
            except Killed:
                continue
            break


def _play(client: Any, steps: list[Step], killer: Killer) -> World:
    world = _world(client, killer)
    disarm = _armed(client, killer)
    try:
        _tell(world, steps)
    finally:
        disarm()
    killer.at = None
    world.extractor.is_down = False
    world.finish()
    return world


def _windows(client: Any) -> list[dict[str, Any]]:
    return [item for item in aws.dump(client) if item["SK"]["S"].startswith("W#")]


def _check(world: World, expected: set[str]) -> None:
    """Nothing lost, nothing doubled, nothing left behind."""
    assert world.facts() == sorted(expected), "each text is one memory"
    heads = [item for item in aws.dump(world.client) if item["SK"]["S"] == "HEAD"]
    assert all(item["cnt"]["N"] == "0" for item in heads), "no event is pending"
    windows = [
        world.windows.get("default", i["PK"]["S"].split("#")[2], int(i["win"]["N"])) for i in _windows(world.client)
    ]
    assert all(window.state is WindowState.DONE for window in windows)
    stored = [one.seq for window in windows for one in world.windows.events(window)]
    assert len(stored) == sum(int(item["seq"]["N"]) for item in heads), "each event is in exactly one window"
    memories, now = world.memories.of_scope("default", SCOPE, now=world.clock()), world.clock()
    revisions = [one for memory in memories for one in world.memories.revisions("default", memory, now=now)]
    assert len(revisions) == len(expected), "each memory was made once"
    assert not [item for item in aws.dump(world.client) if item["SK"]["S"].startswith("R#")], "and never changed"
    told = [one.memory_id for one in world.told() if one.kind is ChangeKind.CREATED]
    assert sorted(told) == sorted(memory.id for memory in memories), "the feed tells of each memory once"
    assert not [item for item in aws.dump(world.client) if "G1SK" in item], "nothing stays due"
    held = [item for item in aws.dump(world.client) if item["SK"]["S"].startswith("B#") and "ttl" not in item]
    assert not held, "processed events expire again"


def _kill_at(client: Any, name: str, points: Iterable[tuple[int, bool]], calls: list[str]) -> None:
    steps, expected = STORIES[name]
    for at, after in points:
        _clear(client)
        world = _play(client, steps, Killer(at, after))
        try:
            _check(world, expected)
        except AssertionError as error:
            raise AssertionError(f"killed {'after' if after else 'before'} call {at} ({calls[at]}): {error}") from error


def _calls(client: Any, name: str) -> list[str]:
    """Return the AWS calls of a story in their order: the points at which it can be killed."""
    steps, expected = STORIES[name]
    dry = Killer()
    _check(_play(client, steps, dry), expected)
    return dry.names


WRITES = {"TransactWriteItems", "UpdateItem", "PutItem", "StartExecution"}


@pytest.mark.parametrize("name", STORIES)
def test_a_kill_after_any_write_loses_and_doubles_nothing(client, name):
    """Killed after writing calls of this story, four at the most, the service recovers by the sweep alone.

    The slow test kills before and after every call.
    """
    calls = _calls(client, name)
    points = [(at, True) for at, call in enumerate(calls) if call in WRITES]
    assert len(points) > 5
    _kill_at(client, name, aws.spread(points, 4), calls)


@pytest.mark.slow
@pytest.mark.parametrize("name", STORIES)
def test_a_kill_around_any_call_loses_and_doubles_nothing(client, name):
    """Killed before or after any AWS call of this story, reads and index queries too, nothing is lost or doubled."""
    calls = _calls(client, name)
    _kill_at(client, name, itertools.product(range(len(calls)), (False, True)), calls)


def test_a_kill_while_a_memory_is_deleted_leaves_it_there_or_gone(client):
    """Killed at any call, a deletion happened with its tombstone, or not at all; its revisions go with the sweep."""
    for at in range(100):
        for after in (False, True):
            _clear(client)
            world = _world(client, killer := Killer())
            world.ingest(event("a", "1"), streamId="s")
            world.settle()
            [memory] = world.memories.of_scope("default", SCOPE, now=world.clock())
            disarm = _armed(client, killer)
            killer.calls, killer.at, killer.after = 0, at, after
            try:
                delete_memory(
                    "default",
                    memory.id,
                    memories=world.memories,
                    retry_policy=world.retry_policy,
                    id_secret=world.id_secret,
                    now=world.clock(),
                )
            except Killed:
                is_gone = not world.facts()
                assert bool(world.memories.tombstones("default", SCOPE, now=world.clock())) is is_gone
            else:
                is_gone = True
            finally:
                disarm()
            is_over, killer.at = killer.at is not None, None
            world.finish()
            assert (world.facts() == []) is is_gone
            assert len(world.memories.tombstones("default", SCOPE, now=world.clock())) == is_gone
            kinds = [ChangeKind.CREATED, ChangeKind.DELETED] if is_gone else [ChangeKind.CREATED]
            assert [one.kind for one in world.told()] == kinds, "the feed tells what happened"
            if is_gone:
                rows = [item for item in aws.dump(client) if item["SK"]["S"].startswith("R#")]
                limit = world.clock().timestamp() + 48 * 3600 + 1
                assert rows
                assert all(float(row["ttl"]["N"]) <= limit for row in rows)
                assert not any(
                    item.get("fact", {}).get("S") == "a" for item in aws.dump(client) if item["SK"]["S"][0] == "M"
                )
        if is_over:
            assert at > 4
            return
    raise AssertionError("a deletion never ends")


def test_a_kill_while_a_bank_is_deleted_leaves_nothing_in_the_end(client):
    """Killed at any call of its end, a closed bank is gone with all it held once the sweep has come often enough."""
    for at in range(0, 400, 12):
        _clear(client)
        world = _world(client, killer := Killer())
        create_bank("b1", BankChange("x"), banks=world.banks, now=world.clock())
        world.ingest(event("a", "1"), bank="b1", streamId="s")
        world.settle()
        world.ingest(event("b", "1"), streamId="s")
        delete_bank("b1", force=True, banks=world.banks, now=world.clock())
        disarm = _armed(client, killer)
        killer.calls, killer.at = 0, at
        world.clock.move(seconds=90)
        try:
            world.sweep()
        except Killed:
            pass
        finally:
            disarm()
        is_over, killer.at = killer.at is not None, None
        world.finish()
        left = [item["PK"]["S"] for item in aws.dump(client) if "b1" in item["PK"]["S"] + item["SK"]["S"]]
        assert not left, f"killed at call {at}: {left}"
        assert world.facts() == ["b"], "another bank is untouched"
        if is_over:
            assert at > 20
            return
    raise AssertionError("a bank's end never ends")


def test_a_kill_while_a_parked_window_is_redriven_loses_nothing(client):
    """Killed at any call, a redrive happened or not; in the end the window is generated once."""
    for at in range(40):
        for after in (True,):
            _clear(client)
            world = _world(client, killer := Killer())
            world.extractor.is_down = True
            receipt = world.ingest(event("a", "1"), streamId="s")
            world.settle()
            world.finish()
            assert world.operation(receipt.operation.id).state == "PARKED"
            world.extractor.is_down = False
            disarm = _armed(client, killer)
            killer.calls, killer.at, killer.after = 0, at, after
            again = lambda: redrive(
                "default",
                receipt.operation.id,
                context=world.redriving,
            )
            try:
                again()
            except Killed:
                pass
            finally:
                disarm()
            is_over, killer.at = killer.at is not None, None
            if world.operation(receipt.operation.id).state == "PARKED":
                again()
            world.finish()
            _check(world, {"a"})
        if is_over:
            assert at > 1
            return
    raise AssertionError("a redrive never ends")


def test_the_scope_of_a_deleted_bank_is_not_the_scope_of_another(client):
    """Registry entries, which the end of a bank walks, are the bank's own."""
    world = _world(client, Killer())
    world.ingest(event("a", "1"), streamId="s")
    registered = {item["PK"]["S"] for item in aws.dump(client) if item["SK"]["S"].startswith(f"S#{scope_id(SCOPE)}")}
    assert len(registered) == 1
    assert registered.pop().startswith("K#default#")
