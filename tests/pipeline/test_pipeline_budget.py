"""Spending is bounded by what was reserved: the budget and one call, however many calls run at once."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import pytest
from botocore.exceptions import ConnectionClosedError

from streambank.errors import BudgetPaused, ModelRejected, ModelTimedOut
from streambank.llm.ports import ExtractedFact, Extraction, ExtractionRequest, Usage
from streambank.pipeline.generation.token_budget import TokenBudget
from streambank.rules.bank_config import bank_config
from streambank.store.usage import UsageStore
from tests import aws
from tests.world import SCOPE, OneFactPerEvent, World, event

REQUEST = ExtractionRequest(())
COST = Usage(calls=1, input_tokens=100, output_tokens=50)


def budget_of(world: World, tokens: int | None, **more) -> TokenBudget:
    return TokenBudget(UsageStore(world.table), tokens, **more)


def call(token_budget: TokenBudget, world: World, during: Callable[[], None] = lambda: None, usage: Usage = COST):
    """Make a call; *during* runs while the model is asked."""

    def ask(_: ExtractionRequest) -> Extraction:
        during()
        return Extraction((), usage)

    return token_budget.call("default", bank_config({}), REQUEST, ask, now=world.clock())


def spent(world: World) -> Usage:
    return UsageStore(world.table).day("default", world.clock().date())


@dataclass
class AllAtOnce(OneFactPerEvent):
    """A model that reports its usage; every other execution begins while it is asked for the first time."""

    others: list[Callable[[], object]] = field(default_factory=list)
    requests: list[ExtractionRequest] = field(default_factory=list)

    def extract(self, request: ExtractionRequest) -> Extraction:
        self.requests.append(request)
        while self.others:
            self.others.pop()()
        return Extraction((ExtractedFact("I keep bees", (1,), "USER_PREFERENCES"),), COST)


def test_forty_executions_at_once_cost_the_budget_and_one_call(client):
    """Forty windows begin before the first answer: of 100 tokens one call of 150 is made, and 39 windows pause."""
    model = AllAtOnce()
    world = World(client, extractor=model, daily_tokens=100)
    receipts = [world.ingest(event("I keep bees"), streamId=str(n), forceFlush=True) for n in range(40)]
    world.deliver()
    outcomes: list[str] = []

    def begin(sid: str) -> None:
        outcomes.append(world.tasks()["Extract"]({"bank": "default", "sid": sid, "win": 1, "att": 0})["outcome"])

    model.others = [partial(begin, one.operation.id.sid) for one in receipts[1:]]
    begin(receipts[0].operation.id.sid)
    assert sorted(outcomes) == ["BUDGET_PAUSED"] * 39 + ["extracted"]
    assert (len(model.requests), spent(world).tokens) == (1, 150)


@pytest.mark.parametrize("seed", range(20))
def test_interleaved_calls_never_cost_more_than_the_budget_and_one_call(client, seed):
    """Calls of random cost begin and end in a random order, some while others are under way."""
    chance = random.Random(seed)
    world = World(client)
    aws.empty(client)
    limit = chance.randrange(1, 60_000)
    token_budget = budget_of(world, limit)
    most, depth = 0, 0

    def some() -> None:
        nonlocal most, depth
        depth += 1
        for _ in range(chance.randrange(1, 4) if depth < 12 else 0):
            usage = Usage(1, 0, chance.randrange(1, 12_000), chance.randrange(1, 8_000))
            try:
                call(token_budget, world, some if chance.random() < 0.5 else lambda: None, usage)
                most = max(most, usage.tokens)
            except BudgetPaused:
                pass
        depth -= 1

    for _ in range(20):
        some()
    assert 0 < spent(world).tokens <= limit + most


def test_a_budget_is_used_to_its_end(world):
    """A reservation ends with its call: calls that follow each other go on until the budget is used."""
    token_budget = budget_of(world, 1_000)
    for _ in range(7):
        call(token_budget, world)
    with pytest.raises(BudgetPaused):
        call(token_budget, world)
    assert spent(world).tokens == 1_050


def test_calls_run_beside_each_other_within_a_large_budget(world):
    """A budget for many calls lets calls begin while others are under way."""
    token_budget = budget_of(world, 1_000_000)
    call(token_budget, world, during=lambda: call(token_budget, world))
    assert spent(world).calls == 2


@pytest.mark.parametrize("end", [aws.Killed(), ModelTimedOut("no answer")])
def test_a_call_whose_end_is_not_known_counts_as_spent(world, end):
    """After a death or a timeout the provider may bill the call: its reservation stays until the end of the day."""
    token_budget = budget_of(world, 1_000)

    def fail() -> None:
        raise end

    with pytest.raises(type(end)):
        call(token_budget, world, during=fail)
    with pytest.raises(BudgetPaused):
        call(token_budget, world)
    world.clock.move(days=1)
    assert call(token_budget, world).usage == COST


def test_a_call_that_failed_gives_its_reservation_back(world):
    """What the provider refused costs nothing."""
    token_budget = budget_of(world, 1_000)

    def fail() -> None:
        raise ModelRejected("no")

    for _ in range(2):
        with pytest.raises(ModelRejected):
            call(token_budget, world, during=fail)
    assert call(token_budget, world).usage == COST


def test_what_was_booked_without_a_budget_counts_for_one(world):
    """A budget that is set in the middle of a day knows what the day has cost so far."""
    call(budget_of(world, None), world)
    with pytest.raises(BudgetPaused):
        call(budget_of(world, 150), world)
    assert call(budget_of(world, 151), world).usage == COST


def test_a_lost_reply_ends_a_reservation_once(world, monkeypatch):
    """The end of a reservation is sent again after a lost reply, and counts once."""
    token_budget = budget_of(world, 20_000)
    sent = world.client.transact_write_items
    lost = iter([True])

    def lossy(**request):
        reply = sent(**request)
        if next(lost, False):
            raise ConnectionClosedError(endpoint_url="dynamodb")
        return reply

    monkeypatch.setattr(world.client, "transact_write_items", lossy)
    call(token_budget, world)
    [item] = aws.dump(world.client)
    assert (item["held"], item["calls"]) == ({"N": "150"}, {"N": "1"})


@pytest.mark.parametrize(("tokens", "calls"), [(None, ["UpdateItem"]), (1_000, ["UpdateItem", "TransactWriteItems"])])
def test_without_a_budget_a_call_costs_one_write(world, tokens, calls):
    """A reservation is one write more, and only a budget needs it."""
    made: list[str] = []
    world.client.meta.events.register("before-call.dynamodb", lambda model, **_: made.append(model.name), "count")
    try:
        call(budget_of(world, tokens), world)
    finally:
        world.client.meta.events.unregister("before-call.dynamodb", unique_id="count")
    assert made == calls


@pytest.mark.parametrize(
    ("deployment", "own", "effective"),
    [(100, 10_000, 100), (100, 10, 10), (100, None, 100), (None, 10_000, 10_000), (None, None, None), (100, 0, 0)],
)
def test_a_banks_own_budget_can_only_be_lower(world, deployment, own, effective):
    """The deployment's budget is the most that a bank may use, whatever its configuration says."""
    config = bank_config({"generationConfig": {} if own is None else {"dailyTokenBudget": own}})
    today = world.clock().date()
    token_budget = budget_of(world, deployment)
    assert token_budget.report("default", config, today, today, now=world.clock()).daily_tokens == effective
    UsageStore(world.table).add("default", today, Usage(input_tokens=100))
    if effective is not None and effective <= 100:
        with pytest.raises(BudgetPaused):
            token_budget.call("default", config, REQUEST, lambda _: Extraction(()), now=world.clock())


def test_a_paused_window_goes_on_the_next_day(client):
    """Beyond the budget a window waits without a failure, and is remembered when the bank has tokens again."""
    world = World(client, extractor=AllAtOnce(), daily_tokens=100)
    for number in range(3):
        world.ingest(event("I keep bees"), streamId=str(number), forceFlush=True, scope={**SCOPE, "n": str(number)})
    world.settle()
    assert spent(world).calls == 1
    for _ in range(2):
        world.clock.move(days=1)
        world.sweep()
        world.run()
    assert [world.facts({**SCOPE, "n": str(number)}) for number in range(3)] == [["I keep bees"]] * 3
