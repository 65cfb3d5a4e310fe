"""What a hundred events cost from the call to the memories, by the size of a call."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from benchmarks import prose
from benchmarks.ingest import EVENT_BYTES
from benchmarks.units import Bill, Meter
from streambank.model.rule import Reason
from tests import aws
from tests.world import World, event

EVENTS = 100
WINDOW = 20
SIZES = (1, 10, 100)


@dataclass(frozen=True, slots=True)
class Row:
    """The cost of a hundred events."""

    size: int
    bill: Bill
    executions: int
    model_calls: int
    characters: int


def measure(size: int) -> Row:
    """Send a hundred events in calls of *size* under an event count of 20, and run streams and executions."""
    with aws.dynamodb() as client:
        world, meter = World(client), Meter(client, aws.TABLE)
        serial, texts = itertools.count(), prose.pieces(EVENT_BYTES)
        with meter.running() as bill:
            for _ in range(EVENTS // size):
                events = [event(next(texts), f"e{next(serial)}") for _ in range(size)]
                receipt = world.ingest(*events, streamId="s", rule={"eventCount": WINDOW, "overlapEventCount": 2})
                trigger = receipt.operation.next_trigger
                if trigger and trigger.kind == Reason.EVENT_COUNT:
                    _work(world, meter)
        requests = [*world.extractor.requests, *world.consolidator.requests]
        turns = sum(len(turn.text) for request in world.extractor.requests for turn in request.turns)
        offered = sum(
            len(one.fact) for request in world.consolidator.requests for one in [*request.facts, *request.memories]
        )
        return Row(size, bill, world.executions.starts, len(requests), turns + offered)


def _work(world: World, meter: Meter) -> None:
    """Deliver the stream's records of a seal and then of its window, and run the state machine."""
    for _ in range(2):
        with meter.paused():
            records = world.stirring()
        for record in records:
            world.react(*record)
    world.run()


def report() -> list[str]:
    """Return the table."""
    names = ("AWS calls", "write units", "index", "read units", "executions", "model calls", "characters")
    lines = [" " * 20 + "".join(f"{name:>12}" for name in names)]
    for row in map(measure, SIZES):
        bill = row.bill
        lines.append(
            f"{row.size:>4} events a call  {bill.round_trips:>12}{bill.write_units:>12}{bill.index_units:>12}"
            f"{bill.read_units:>12.1f}{row.executions:>12}{row.model_calls:>12}{row.characters:>12}"
        )
    return lines
