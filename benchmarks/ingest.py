"""What ingesting, sealing and generating cost, by the size of a call."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from benchmarks import prose
from benchmarks.units import Bill, Meter
from tests import aws
from tests.world import World, event

EVENT_BYTES = 1024
LIMITS = {1: 6.0, 10: 3.4, 97: 3.0}
# 500 bytes of settings, the most for which the limits hold.
LABELS = {"data_source": "x" * 200, "trace": "y" * 214}
RULE = {"eventCount": 10_000, "idleDuration": "2592000s"}


def _events(serial: Iterator[int], texts: Iterator[str], count: int) -> list[dict[str, Any]]:
    return [event(next(texts), f"conversation-17/turn-{next(serial):06}") for _ in range(count)]


def rows() -> Iterator[tuple[str, Bill, int]]:
    """Yield a name, a bill and the number of its events."""
    with aws.dynamodb() as client:
        meter = Meter(client, aws.TABLE)
        for size in LIMITS:
            yield from _rows_of(World(client), meter, size)


def _rows_of(world: World, meter: Meter, size: int) -> Iterator[tuple[str, Bill, int]]:
    serial, texts = itertools.count(), prose.pieces(EVENT_BYTES)
    fields: dict[str, Any] = {"streamId": f"size-{size}", "rule": RULE, "revisionLabels": LABELS}
    first = _events(serial, texts, size)
    with meter.running() as bill:
        world.ingest(*first, **fields)
    yield f"first call of a stream, {size} a call", bill, size
    world.clock.move(seconds=1)
    with meter.running() as bill:
        world.ingest(*_events(serial, texts, size), **fields)
    yield f"steady state, {size} a call", bill, size
    with meter.running() as bill:
        world.ingest(*first, **fields)
    yield f"replay, {size} a call", bill, size
    world.ingest(streamId=fields["streamId"], forceFlush=True)
    with meter.running() as bill:
        with meter.paused():
            records = world.stirring()
        for record in records:
            world.react(*record)
    yield f"seal, {2 * size} events", bill, 2 * size
    world.deliver()
    with meter.running() as bill:
        world.run()
    yield f"generation, {2 * size} facts", bill, 2 * size


def report() -> list[str]:
    """Return the table, with a note where a limit is exceeded."""
    lines = [f"{'':36}{'round trips':>12}{'write units':>12}{'index':>7}{'read units':>11}{'writes/event':>13}"]
    for name, bill, events in rows():
        per_event = bill.write_units / events
        note = _note(name, per_event)
        lines.append(
            f"{name:36}{bill.round_trips:>12}{bill.write_units:>12}{bill.index_units:>7}"
            f"{bill.read_units:>11.1f}{per_event:>13.2f}{note}"
        )
    return lines


def _note(name: str, per_event: float) -> str:
    for size, limit in LIMITS.items():
        if name == f"steady state, {size} a call":
            return f"  (limit {limit})" if per_event <= limit else f"  OVER THE LIMIT of {limit}"
    return ""
