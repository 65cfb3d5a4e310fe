"""What one similarity search and one generation read, by the size of the scope: counted, not timed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import timedelta

from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.dynamodb.models import dynamodb_backends

from benchmarks import prose
from benchmarks.units import Bill, Meter
from streambank.model import ids
from streambank.model.memory import Change, Citation, Evidence, Memory
from streambank.model.scope_index import LARGE_SCOPE, IndexState
from streambank.pipeline.memories.search import SearchQuery, search
from streambank.rules import bm25, vectors
from streambank.rules.word_vectors import pack_words
from streambank.store import keys
from streambank.store.actions import Put
from streambank.store.memory_items import change_actions
from streambank.store.scope_indexes import entry_put
from streambank.store.scope_versions import version_bump
from tests import aws
from tests.world import SCOPE, START, World, event

REGION = "us-east-1"
SIZES = (100, 500, 1_000, 10_000, 100_000)
# Scopes with more memories are measured without events.
MOST_EVENTS = 10_000
# About the lengths of facts and turns in LoCoMo's conversations.
FACT_CHARACTERS = 80
TURN_CHARACTERS = 150
DIMENSIONS = 256
_EVENTS_PER_CALL = 50
_ENTRIES_AT_ONCE = 1_000
SEARCHES = {
    "memories": SearchQuery("a class", 10),
    "memories, events": SearchQuery("a class", 10, events=True),
}


def rows() -> Iterator[tuple[int, str, Bill]]:
    """Yield the size of the scope, what was done, and its bill."""
    with aws.dynamodb() as client:
        world, meter = World(client), Meter(client, aws.TABLE)
        scope = _GrowingScope(world)
        for size in SIZES:
            scope.grow(size)
            for name, query in SEARCHES.items():
                if not query.events or size <= MOST_EVENTS:
                    with meter.running() as bill:
                        search("default", SCOPE, query, context=world.searching())
                    yield size, name, bill
            yield size, "a generation of one fact", _generation(world, meter, size)


def _generation(world: World, meter: Meter, size: int) -> Bill:
    receipt = world.ingest(
        event(f"I keep bees, said in a scope of {size}", f"g{size}"), streamId="g", rule={"eventCount": 1}
    )
    window = keys.window("default", receipt.operation.id.sid, receipt.operation.id.window)
    world.react(*keys.head("default", receipt.operation.id.sid))
    with meter.running() as bill:
        world.react(*window)
        world.run()
    return bill


class _GrowingScope:
    """A scope whose memories cite a turn each, with as many events, and an index when it is large.

    Its items are put into the emulator: through boto3 an entry of the index takes a hundredth of a second.
    """

    def __init__(self, world: World) -> None:
        self._world, self._cid = world, ids.scope_id(SCOPE)
        self._table = dynamodb_backends[DEFAULT_ACCOUNT_ID][REGION].get_table(aws.TABLE)
        self._facts, self._turns = prose.pieces(FACT_CHARACTERS), prose.pieces(TURN_CHARACTERS)
        self._memories, self._without_entry = 0, list[Change]()
        world.table.transact(version_bump("default", SCOPE, 0, 1))

    def grow(self, size: int) -> None:
        """Add memories and events until there are *size* memories."""
        first = self._memories
        for number in range(first, size):
            change = _change(number, next(self._facts), next(self._turns))
            self._put(*change_actions("default", change, START))
            self._without_entry.append(change)
            if size > LARGE_SCOPE and len(self._without_entry) == _ENTRIES_AT_ONCE:
                self._index()
        self._memories = size
        if size > LARGE_SCOPE:
            self._index()
        for start in range(first, min(size, MOST_EVENTS), _EVENTS_PER_CALL):
            events = [event(next(self._turns), f"e{number}") for number in range(start, start + _EVENTS_PER_CALL)]
            self._world.ingest(*events, streamId="s", rule={"eventCount": 10_000})

    def _index(self) -> None:
        indexes, now = self._world.indexes, self._world.clock()
        indexes.begin("default", SCOPE, now=now)
        index = indexes.get("default", self._cid)
        if not index.is_ready:
            index = indexes.record_walk(index, state=IndexState.READY)
        for change in self._without_entry:
            words = pack_words(bm25.count_words(change.citation.text))
            self._put(entry_put(index, change.after, words))
        self._without_entry.clear()

    def _put(self, *puts: Put) -> None:
        for put in puts:
            self._table.put_item(put.request(aws.TABLE)["Item"])


def _change(number: int, fact: str, turn: str) -> Change:
    direction = random.Random(number)
    vector = vectors.pack((direction.gauss() for _ in range(DIMENSIONS)), "a model")
    evidence = (Evidence("s", 1, (number,)),)
    memory = Memory(f"m{number:026}", fact, SCOPE, START, START, START, vector=vector, evidence=evidence)
    citation = Citation("s", 1, number, f"[2026-03-01] {turn}", START + timedelta(days=90))
    return Change(None, memory, None, citation)


def report() -> Iterator[str]:
    """Yield the table: a query's round trips are its pages of 1 MB."""
    yield f"{'':36}{'round trips':>12}{'read units':>12}{'MB examined':>14}"
    for size, name, bill in rows():
        examined = bill.vector_bytes / 1_000_000
        yield f"{size:>7} {name:28}{bill.round_trips:>12}{bill.read_units:>12.1f}{examined:>14.2f}"
