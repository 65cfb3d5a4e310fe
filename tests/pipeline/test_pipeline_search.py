from dataclasses import dataclass, field

import pytest

from streambank import telemetry
from streambank.model.memory import Memory
from streambank.pipeline import banks
from streambank.pipeline.banks import BankChange
from streambank.pipeline.memories.listing import MAX_TOP_K
from streambank.pipeline.memories.search import SearchQuery, search
from streambank.rules import vectors
from streambank.rules.vectors import MAX_DISTANCE
from tests.world import SCOPE, HashEmbedder, event


@dataclass
class Recording(HashEmbedder):
    """Tells how it was asked; embedding is dear or costs nothing."""

    is_local: bool
    asked: list = field(default_factory=list)

    def embed(self, texts, *, model=None, for_query=False):
        self.asked.append((len(texts), model, for_query))
        return super().embed(texts)


def found(world, text, *, embedder, bank="default", **asked):
    return search(bank, SCOPE, SearchQuery(text, MAX_TOP_K, **asked), context=world.searching(embedder))


def remembered(world, *texts, **more):
    world.ingest(*map(event, texts), forceFlush=True, **more)
    world.settle()


def test_one_text_is_embedded_where_that_is_dear(world):
    """A service elsewhere is asked for the query alone, however many events are searched; they borrow."""
    remembered(world, "I keep bees", "I live in Graz")
    embedder = Recording(is_local=False)
    [(_, first), *_] = found(world, "I keep bees", embedder=embedder, events=True).hits
    assert embedder.asked == [(1, None, True)]
    assert isinstance(first, Memory)
    assert first.fact == "I keep bees"


@pytest.mark.parametrize("is_explained", [False, True])
def test_turns_that_only_rank_may_lag(world, is_explained):
    """A query that may lag costs half as much; the turns that an explanation quotes are read consistently."""
    remembered(world, "I keep bees")
    queries = []
    world.client.meta.events.register(
        "provide-client-params.dynamodb.Query", lambda params, **_: queries.append(params)
    )
    [(_, memory)] = found(world, "bees", embedder=world.embedder, explain=is_explained).hits
    assert memory.fact == "I keep bees"
    consistent = {
        one["ExpressionAttributeValues"].get(":prefix", {}).get("S"): one["ConsistentRead"] for one in queries
    }
    assert (consistent["M#"], consistent["T#"]) == (True, is_explained)


class Named(HashEmbedder):
    """An embedding model of another name."""

    def __init__(self, name):
        self.name = name

    def embed(self, texts, *, model=None, for_query=False):
        return [vectors.pack(vectors.unpack(one), self.name) for one in super().embed(texts)]


def test_vectors_of_another_model_are_not_compared_and_that_is_logged_once(world, caplog):
    """After a change of the embedding model a memory is ranked by its words; the log says so once for a bank."""
    telemetry.other_vectors.cache_clear()
    world.embedder = Named("old")
    remembered(world, "I keep bees")
    [(same, _)] = found(world, "I keep bees", embedder=Named("old")).hits
    lines = [record for record in caplog.records if record.message == telemetry.OTHER_VECTORS]
    assert lines == []
    for _ in range(2):
        [(by_words, _)] = found(world, "I keep bees", embedder=Named("new")).hits
    assert same < by_words < MAX_DISTANCE
    [line] = [record for record in caplog.records if record.message == telemetry.OTHER_VECTORS]
    assert (line.levelname, line.bank) == ("WARNING", "default")


def test_events_are_embedded_where_that_costs_nothing(world):
    """A local model embeds the events that are looked at."""
    remembered(world, "I keep bees", "I live in Graz")
    embedder = Recording(is_local=True)
    found(world, "I keep bees", embedder=embedder, events=True)
    assert [count for count, *_ in embedder.asked] == [1, 2]


def test_nothing_is_embedded_where_nothing_can_be_found(world):
    """An empty scope costs no embedding."""
    embedder = Recording(is_local=True)
    assert found(world, "bees", embedder=embedder, events=True, pending=True).hits == ()
    assert embedder.asked == []


def test_the_query_is_embedded_by_the_banks_model(world):
    """A question is put to the model that the bank chose for its memories."""
    document = {"similaritySearchConfig": {"embeddingModel": "the-banks-own"}}
    banks.create_bank("b1", BankChange("x", document=document), banks=world.banks, now=world.clock())
    remembered(world, "I keep bees", bank="b1")
    embedder = Recording(is_local=False)
    found(world, "bees", embedder=embedder, bank="b1")
    assert embedder.asked == [(1, "the-banks-own", True)]


def test_a_reply_has_room_for_the_largest_events(world):
    """Results end before a reply grows beyond what a function may answer; the first is always there."""
    remembered(world, *(f"{number} " + "x" * 340_000 for number in range(3)))
    remembered(world, *(f"{number} " + "x" * 340_000 for number in range(3, 9)))
    hits = found(world, "x", embedder=Recording(is_local=False), events=True, pending=True).hits
    events = [what for _, what in hits if not isinstance(what, Memory)]
    assert 0 < len(events) * 340_000 < 4_000_000
