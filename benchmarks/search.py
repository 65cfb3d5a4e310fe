"""What one similarity search reads, by the size of the scope: counted, not timed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import timedelta

from benchmarks import prose
from benchmarks.units import Bill, Meter
from streambank.model.memory import Change, Citation, Evidence, Memory
from streambank.pipeline.memories.search import SearchQuery, search
from streambank.rules import vectors
from tests import aws
from tests.world import SCOPE, START, World, event

SIZES = (100, 1_000, 10_000)
# About the lengths of facts and turns in LoCoMo's conversations.
FACT_CHARACTERS = 80
TURN_CHARACTERS = 150
DIMENSIONS = 256
# Changes in one transaction of a hundred actions, and events in one call.
_CHANGES_PER_COMMIT = 25
_EVENTS_PER_CALL = 50
SEARCHES = {
    "memories": SearchQuery("a class", 10),
    "memories, events": SearchQuery("a class", 10, events=True),
}


def rows() -> Iterator[tuple[int, str, Bill]]:
    """Yield the size of the scope, the kind of search, and its bill."""
    with aws.dynamodb() as client:
        world, meter = World(client), Meter(client, aws.TABLE)
        for before, size in zip((0, *SIZES), SIZES, strict=False):
            _fill(world, before, size)
            for name, query in SEARCHES.items():
                with meter.running() as bill:
                    _search(world, query)
                yield size, name, bill


def _fill(world: World, before: int, size: int) -> None:
    """Store memories that cite a turn each, and as many events; their generation is measured elsewhere."""
    facts, turns = prose.pieces(FACT_CHARACTERS), prose.pieces(TURN_CHARACTERS)
    version = world.memories.version("default", SCOPE).version
    for step, start in enumerate(range(before, size, _CHANGES_PER_COMMIT)):
        changes = [_change(number, next(facts), next(turns)) for number in range(start, start + _CHANGES_PER_COMMIT)]
        world.memories.commit_changes("default", SCOPE, version + step, changes, now=START)
    for start in range(before, size, _EVENTS_PER_CALL):
        events = [event(next(turns), f"e{number}") for number in range(start, start + _EVENTS_PER_CALL)]
        world.ingest(*events, streamId="s", rule={"eventCount": 10_000})


def _change(number: int, fact: str, turn: str) -> Change:
    direction = random.Random(number)
    vector = vectors.pack(direction.gauss() for _ in range(DIMENSIONS))
    evidence = (Evidence("s", 1, (number,)),)
    memory = Memory(f"m{number:026}", fact, SCOPE, START, START, START, vector=vector, evidence=evidence)
    citation = Citation("s", 1, number, f"[2026-03-01] {turn}", START + timedelta(days=90))
    return Change(None, memory, None, citation)


def _search(world: World, query: SearchQuery) -> None:
    search("default", SCOPE, query, context=world.searching())


def report() -> list[str]:
    """Return the table: a query's round trips are its pages of 1 MB."""
    lines = [f"{'':36}{'round trips':>12}{'read units':>12}"]
    for size, name, bill in rows():
        lines.append(f"{size:>6} {name:29}{bill.round_trips:>12}{bill.read_units:>12.1f}")
    return lines
