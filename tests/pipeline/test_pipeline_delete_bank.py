"""Deleting a bank: nothing of it is left, whatever was under way when it was closed, and whoever dies meanwhile.

Executions are not waited for: they go on between any two calls of the deletion, and the deletion between any of theirs.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from streambank.errors import StreambankError
from streambank.model.window import DirectMemory
from streambank.pipeline.banks import BankChange, create_bank, delete_bank
from streambank.pipeline.generation.generate import GenerateCall, generate
from streambank.pipeline.jobs import erase
from streambank.pipeline.sweep import sweep
from tests import aws, scanner
from tests.aws import Killed
from tests.pipeline.test_pipeline_erase import WORD, park, said
from tests.pipeline.test_pipeline_faults import Killer, _armed, _clear
from tests.pipeline.test_pipeline_interleavings import Interruption
from tests.world import SCOPE, World, event

BANK = "b1"
Step = Callable[[World], Any]


def busy(client: Any) -> World:
    """A bank with a remembered window, a parked one, an open one, and generations under way; and another bank."""
    _clear(client)
    world = World(client)
    create_bank(BANK, BankChange("x"), banks=world.banks, now=world.clock())
    world.ingest(event("beside", "1"))
    world.ingest(said("a", "1"), bank=BANK, streamId="s")
    world.ingest(said("a", "1"), bank=BANK, streamId="s", scope={"user_id": "u2"})
    world.settle()
    receipt = world.ingest(said("c", "3"), bank=BANK, streamId="parked")
    world.deliver()
    park(world, receipt.operation.id.sid, BANK)
    world.ingest(said("d", "4"), said("e", "5"), bank=BANK, streamId="s", forceFlush=True)
    world.ingest(said("f", "4"), bank=BANK, streamId="new", scope={"user_id": "u3"}, forceFlush=True)
    call = GenerateCall(BANK, SCOPE, token="t", memories=(DirectMemory(f"g {WORD}"),))
    generate(call, context=world.generating)
    world.deliver()
    world.deliver()
    assert len(world.executions.running) == 3
    world.ingest(said("h", "6"), bank=BANK, streamId="open", rule={"idleDuration": "60s"})
    return world


def close(world: World) -> None:
    delete_bank(BANK, force=True, banks=world.banks, now=world.clock())


def cascade(world: World) -> None:
    """Close the bank, and let one sweep delete its contents, in one go."""
    close(world)
    world.clock.move(seconds=61)
    assert not world.sweep().faults


def check(world: World) -> None:
    """The table holds nothing of the bank in the end, and all of the other one."""
    world.finish()
    left = [f"{item['PK']['S']} {item['SK']['S']}" for item in aws.dump(world.client)]
    assert not [key for key in left if BANK in key], "an item of the bank is left"
    assert scanner.places(world.client, WORD) == []
    assert world.facts() == ["beside"]


def meet(client: Any, one: Step, other: Step, at: int) -> int:
    """Let *other* happen before call *at* of *one*; return how many calls *one* made."""
    world = busy(client)
    interruption = Interruption(world, other, at)
    client.meta.events.register("before-call.dynamodb", interruption)
    try:
        one(world)
    finally:
        client.meta.events.unregister("before-call.dynamodb", interruption)
    if at >= 0:
        try:
            if world.banks.get(BANK):
                cascade(world)
            check(world)
        except AssertionError as error:
            raise AssertionError(f"before call {at}: {error}") from error
    return interruption.calls


def steps_of_deletion(number: int) -> Step:
    """Return what closes the bank and deletes its contents for *number* steps, as a sweep does that is out of time."""

    def delete(world: World) -> None:
        close(world)
        world.clock.move(seconds=61)
        time_for = itertools.repeat(True, number)
        sweep(context=world.sweeper(), has_time=lambda: next(time_for, False))

    return delete


def erase_bank(world: World) -> None:
    try:
        erase.erase_bank(BANK, context=world.erasing())
    except StreambankError:
        return  # its job went with the bank


def late_call(world: World) -> None:
    try:
        world.ingest(said("late", "9"), bank=BANK, streamId="s", forceFlush=True)
    except StreambankError:
        return


def run(world: World) -> None:
    world.run()


def ticks(world: World) -> None:
    world.clock.move(minutes=3)
    world.sweep()
    world.run()


OTHERS: dict[str, Step] = {
    "generations": run,
    "stream records": lambda world: (world.deliver(), world.deliver(), world.run()),
    "a sweep": ticks,
    "a call": late_call,
}
UNDER_WAY: dict[str, Step] = {"generations": run, "an erasure": erase_bank, "a sweep": ticks}


@pytest.mark.parametrize("number", [2, 5])
def test_a_generation_between_two_steps_of_one_walk_writes_nothing_behind_it(client, number):
    """Streams go before scopes: a generation that runs after a scope went has no window that lets it commit."""
    world = busy(client)
    for step, _ in enumerate(world.banks.delete_contents(BANK), 1):
        if step == number:
            world.run()
    partitions = {item["PK"]["S"] for item in aws.dump(client)}
    assert not [name for name in partitions if BANK in name.split("#")]


@pytest.mark.parametrize("number", [8, 14])
def test_a_commit_between_two_steps_of_the_deletion_leaves_nothing(client, number):
    """A generation that planned before the bank was closed commits in the middle of the deletion."""
    calls = meet(client, run, steps_of_deletion(number), -1)
    for at in aws.spread(range(calls), 3):
        meet(client, run, steps_of_deletion(number), at)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(0, 30, 3))
def test_a_commit_between_any_two_steps_of_the_deletion_leaves_nothing(client, number):
    """The same before every call of the generations."""
    for at in range(meet(client, run, steps_of_deletion(number), -1)):
        meet(client, run, steps_of_deletion(number), at)


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_whoever_comes_between_leaves_nothing(client, name):
    """Generations, records, sweeps and calls before some calls of the deletion."""
    for at in aws.spread(range(meet(client, cascade, OTHERS[name], -1)), 2):
        meet(client, cascade, OTHERS[name], at)


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_whoever_comes_between_any_two_calls_leaves_nothing(client, name):
    """The same before every call."""
    for at in range(meet(client, cascade, OTHERS[name], -1)):
        meet(client, cascade, OTHERS[name], at)


@pytest.mark.slow
@pytest.mark.parametrize("name", UNDER_WAY)
def test_what_is_under_way_when_the_bank_goes_leaves_nothing(client, name):
    """The whole deletion happens before some calls of what was under way."""
    for at in aws.spread(range(meet(client, UNDER_WAY[name], cascade, -1)), 2):
        meet(client, UNDER_WAY[name], cascade, at)


@pytest.mark.slow
@pytest.mark.parametrize("name", UNDER_WAY)
def test_what_is_under_way_at_any_call_leaves_nothing(client, name):
    """The same before every call."""
    for at in range(meet(client, UNDER_WAY[name], cascade, -1)):
        meet(client, UNDER_WAY[name], cascade, at)


def test_nothing_is_generated_for_a_bank_that_is_closed(client):
    """From the moment of its deletion no model is called for a bank, and none of its windows is sealed."""
    world = busy(client)
    close(world)
    asked = len(world.extractor.requests)
    world.run()
    world.clock.move(seconds=59)
    windows = world.erasures.streams(BANK, "")
    world.deliver()
    world.sweep()
    world.run()
    assert len(world.extractor.requests) == asked
    assert world.erasures.streams(BANK, "") == windows
    check(world)


def test_a_generation_that_is_started_for_a_closed_bank_leaves_nothing(client):
    """The start of a generation reads no bank; the generation does, before the deletion, at each step and after it."""
    world = busy(client)
    world.run()
    world.ingest(said("late", "9"), bank=BANK, streamId="late", forceFlush=True)
    world.deliver()  # seals the window
    assert not world.executions.running
    close(world)
    world.deliver()
    [payload] = world.executions.running.values()
    asked, stored = len(world.extractor.requests), results(world)
    aws.walk(dict(payload), world.tasks())
    assert results(world) == stored
    for _ in world.banks.delete_contents(BANK):
        aws.walk(dict(payload), world.tasks())
    aws.walk(dict(payload), world.tasks())
    assert len(world.extractor.requests) == asked
    assert scanner.places(client, WORD) == []
    assert not [key for key, _ in keys_of(world) if BANK in key.split("#")]


def keys_of(world: World) -> list[tuple[str, str]]:
    return [(item["PK"]["S"], item["SK"]["S"]) for item in aws.dump(world.client)]


def results(world: World) -> list[tuple[str, str]]:
    """Return the keys of what generations store."""
    return [key for key in keys_of(world) if key[1].startswith(("P#", "M#", "R#", "T#", "N", "V"))]


def test_what_is_written_behind_the_walk_is_found_by_the_last_one(client):
    """A function that still ran when the contents went writes a memory: it goes before the bank's own item does."""
    world = busy(client)
    cascade(world)
    world.clock.move(minutes=14)
    world.client.put_item(TableName=aws.TABLE, Item=aws_item(f"C#{BANK}#late", "M#m1", fact=WORD))
    world.client.put_item(TableName=aws.TABLE, Item=aws_item(f"K#{BANK}#3", "C#late"))
    world.run()
    check(world)


def aws_item(pk: str, sk: str, **values: str) -> dict[str, Any]:
    return {name: {"S": value} for name, value in {"PK": pk, "SK": sk, **values}.items()}


def kill(client: Any, at: int, *, after: bool) -> bool:
    """Kill the deletion at one call, with generations under way; tell whether it was over before."""
    world = busy(client)
    close(world)
    world.clock.move(seconds=61)
    killer = Killer(at, after)
    disarm = _armed(client, killer)
    try:
        world.sweep()
    except Killed:
        pass
    finally:
        disarm()
    is_over, killer.at = killer.at is not None, None
    world.run()
    check(world)
    return is_over


def test_a_kill_at_some_calls_leaves_nothing(client):
    """Killed on the way, the deletion is finished by later sweeps."""
    assert any(kill(client, at, after=True) for at in range(20, 220, 60))


@pytest.mark.slow
@pytest.mark.parametrize("after", [False, True])
def test_a_kill_at_any_call_leaves_nothing(client, after):
    """The same at every call."""
    assert any(kill(client, at, after=after) for at in range(400))
