"""Embeddings that a provider bills are booked, and held within a bank's budget, wherever they are made."""

import pytest

from streambank.errors import BudgetPaused, NotFound
from streambank.llm.ports import Action, Consolidation, Decision, ExtractedFact, Extraction, Usage
from streambank.model.operation import OperationState
from streambank.model.transfer import TransferSpec
from streambank.model.usage import Price
from streambank.model.window import DirectMemory
from streambank.pipeline import banks
from streambank.pipeline.banks import BankChange
from streambank.pipeline.generation.generate import GenerateCall, generate
from streambank.pipeline.generation.token_budget import TokenBudget
from streambank.pipeline.jobs import export, import_job
from streambank.pipeline.memories.edit import EditContext, create_memory, roll_back, update_memory
from streambank.pipeline.memories.search import SearchQuery, search
from streambank.rules.bank_config import bank_config
from streambank.rules.edits import Edit
from streambank.rules.tokens import estimate_tokens
from streambank.store.usage import UsageStore
from tests import aws
from tests.world import SCOPE, HashEmbedder, World, event

FACT = "I keep bees"
SAID = f"{FACT}, many of them"
TOKENS = estimate_tokens(FACT)


class BilledEmbedder(HashEmbedder):
    """An embedder that a provider bills; it counts the texts."""

    is_local = False

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts, *, model=None, for_query=False):
        self.texts += texts
        return super().embed(texts)


@pytest.fixture
def world(client) -> World:
    return World(client, embedder=BilledEmbedder())


def booked(world: World, bank: str = "default") -> int:
    return UsageStore(world.table).day(bank, world.clock().date()).embedding_tokens


def use_up(world: World, bank: str = "default") -> None:
    """Give every bank a budget, and let *bank* use it up."""
    world.daily_tokens = 1_000
    UsageStore(world.table).add(bank, world.clock().date(), Usage(input_tokens=1_000))


def created(world: World, memory_id: str = "m-1") -> None:
    edit, context = Edit(frozenset({"fact"}), FACT), editing(world)
    create_memory("default", memory_id, SCOPE, edit, repeats=lambda _: False, context=context)


def editing(world: World) -> EditContext:
    return world.editing()


def create(world: World) -> None:
    created(world, "m-2")


def update(world: World) -> None:
    update_memory("default", "m-1", None, Edit(frozenset({"fact"}), FACT), context=editing(world))


def rollback(world: World) -> None:
    roll_back("default", "m-1", 1, context=editing(world))


def retrieve(world: World) -> None:
    search("default", SCOPE, SearchQuery(FACT, 3), context=world.searching())


@pytest.mark.parametrize("act", [create, update, rollback, retrieve])
def test_a_callers_embedding_is_booked_and_budgeted(world, act):
    """What a caller's request embeds is booked; beyond the budget the request is refused and nothing is embedded."""
    created(world)
    before = booked(world)
    act(world)
    assert booked(world) == before + TOKENS
    use_up(world)
    asked = len(world.embedder.texts)
    with pytest.raises(BudgetPaused):
        act(world)
    assert len(world.embedder.texts) == asked


def test_a_refused_edit_embeds_nothing(world):
    """An edit of a memory that is not there spends none of the bank's tokens."""
    with pytest.raises(NotFound):
        update_memory("default", "nobody", None, Edit(frozenset({"fact"}), FACT), context=editing(world))
    assert (world.embedder.texts, booked(world)) == ([], 0)


def test_an_import_is_booked_and_goes_on_when_there_are_tokens(world, emulator):
    """An import embeds within the budget: it waits without a fault of the sweep, and ends on the next day."""
    world.s3 = aws.bucket()
    created(world)
    source = export.export_bank("default", TransferSpec(), context=world.exporting()).prefix + "manifest.json"
    banks.create_bank("b1", BankChange("x"), banks=world.banks, now=world.clock())
    use_up(world, "b1")
    with pytest.raises(BudgetPaused):
        import_job.import_bank("b1", source, context=world.importing())
    world.clock.move(minutes=1)
    assert not world.sweep().faults
    assert world.facts(bank="b1") == []
    world.clock.move(days=1)
    assert not world.sweep().faults
    assert (world.facts(bank="b1"), booked(world, "b1")) == ([FACT], TOKENS)


class Scripted:
    """A model that extracts one fact, and then updates the memory that it is offered."""

    def extract(self, request):
        return Extraction((ExtractedFact(SAID, (1,), "USER_PREFERENCES"),), Usage(1, 0, 100, 10))

    def consolidate(self, request):
        return Consolidation((Decision(1, Action.UPDATE, (1,), "I keep many bees"),), Usage(1, 0, 100, 10))


def test_the_embeddings_of_a_generation_are_booked_with_its_calls(client):
    """The texts of an answer are embedded: they are booked in the same write, and counted against the budget."""
    model = Scripted()
    world = World(client, embedder=BilledEmbedder(), extractor=model, consolidator=model, daily_tokens=1_000_000)
    created(world)
    before = booked(world)
    world.ingest(event(SAID), forceFlush=True)
    world.settle()
    assert world.facts() == ["I keep many bees"]
    assert booked(world) - before == estimate_tokens(SAID) + estimate_tokens("I keep many bees")
    [held] = [int(item["held"]["N"]) for item in aws.dump(client) if item["PK"]["S"].startswith("U#")]
    assert held == UsageStore(world.table).day("default", world.clock().date()).tokens


def test_stated_facts_are_embedded_within_the_budget(world):
    """Facts that a caller states need no model call before their embedding: their window pauses without it."""
    use_up(world)
    call = GenerateCall("default", SCOPE, token="t", memories=(DirectMemory(FACT),))
    started = generate(call, context=world.generating)
    world.settle()
    assert world.operation(started.id).state is OperationState.BUDGET_PAUSED
    assert world.embedder.texts == []
    world.clock.move(days=1)
    world.sweep()
    world.run()
    assert (world.facts(), booked(world)) == ([FACT], TOKENS)


def test_a_model_that_is_not_billed_is_not_booked(client):
    """An embedding model inside the function costs nothing, also beyond the budget."""
    world = World(client)
    use_up(world)
    created(world)
    assert booked(world) == 0


def test_embeddings_have_a_price_of_their_own(world):
    """The estimate of cost takes the embedding model's price, else that of `embedding`, never a chat model's."""
    prices = {"default": Price(3, 15), "embedding": Price(100_000, 0), "dear": Price(200_000, 0)}
    token_budget = TokenBudget(UsageStore(world.table), prices=prices)
    for name, price in (("dear", 200_000), ("unknown", 100_000)):
        config = bank_config({"similaritySearchConfig": {"embeddingModel": name}})
        token_budget.embed(name, config, [FACT], world.embedder, now=world.clock())
        assert UsageStore(world.table).day(name, world.clock().date()).micros == TOKENS * price
