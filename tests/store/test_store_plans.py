"""Lists of any length are stored in transactions that DynamoDB accepts, and are there as a whole or not at all."""

import random
from dataclasses import replace

import pytest

from streambank.model.coverage import Coverage
from streambank.model.plan import Candidate, Extracted, Plan, PlanStep
from streambank.model.verdict import Verdict
from streambank.model.window import Attempt
from streambank.store import plans
from streambank.store.table import Table
from tests import aws
from tests.world import SCOPE, event

MAX_ACTIONS, MAX_BYTES, MAX_ITEM_BYTES = 100, 4_000_000, 400_000


@pytest.fixture
def attempt(world):
    """The attempt of a window that was claimed."""
    operation = world.ingest(event("a"), forceFlush=True).operation.id
    world.deliver()
    claimed = Attempt("default", operation.sid, operation.window, 0)
    assert world.windows.claim(claimed, now=world.clock())
    return claimed


@pytest.fixture
def transactions(world):
    """The actions and the bytes of each transaction from now on, and what is to happen before one."""
    sent = []

    def listen(params, **_):
        items = [action["Put"]["Item"] for action in params["TransactItems"] if "Put" in action]
        sizes = [sum(len(str(next(iter(value.values())))) for value in item.values()) for item in items]
        blobs = [sum(len(value["B"]) for value in item.values() if "B" in value) for item in items]
        assert max(blobs, default=0) < MAX_ITEM_BYTES
        sent.append((len(params["TransactItems"]), sum(blobs), sizes))

    events = world.client.meta.events
    events.register("provide-client-params.dynamodb.TransactWriteItems", listen)
    yield sent
    events.unregister("provide-client-params.dynamodb.TransactWriteItems", listen)


def noise(seed: int) -> random.Random:
    return random.Random(seed)


def candidates(count: int, at, seed: int = 1) -> Extracted:
    """Return candidates whose facts and vectors hardly compress."""
    source = noise(seed)
    made = [
        Candidate(source.randbytes(60).hex(), (number + 1,), at, ("A",), source.randbytes(512))
        for number in range(count)
    ]
    return Extracted(tuple(made), coverage=Coverage(count))


def plan_for(extracted: Extracted, version: int = 1) -> Plan:
    steps = (PlanStep(Verdict.CREATED, None, one.fact, one.vector, "new") for one in extracted.candidates)
    return Plan(version, 0, tuple(steps), {})


def test_ten_thousand_candidates_are_stored(world, attempt, transactions):
    """Ten thousand candidates with vectors, and a plan for them, are stored within DynamoDB's limits and read whole."""
    extracted = candidates(10_000, world.clock())
    plan = plan_for(extracted)
    assert world.plans.save_extracted(attempt, extracted, expires=None)
    assert world.plans.save_plan(attempt, plan, expires=None)
    assert world.plans.extracted(attempt) == extracted
    assert world.plans.plan(attempt) == plan
    assert len(transactions) > 2
    assert max(actions for actions, _, _ in transactions) <= MAX_ACTIONS
    assert max(size for _, size, _ in transactions) < MAX_BYTES


def test_a_list_is_there_when_its_head_is(world, attempt, transactions):
    """A process that dies between two transactions leaves no list; the next stores it whole, and twins never mix."""
    extracted, twins = candidates(5_000, world.clock()), candidates(5_000, world.clock(), seed=2)

    class Dying(Table):
        def transact_despite_contention(self, actions):
            if transactions:
                raise aws.Killed
            super().transact_despite_contention(actions)

    with pytest.raises(aws.Killed):
        plans.Plans(Dying(world.client, aws.TABLE, world.retry_policy)).save_extracted(attempt, extracted, expires=None)
    assert world.plans.extracted(attempt) is None
    assert world.plans.save_extracted(attempt, twins, expires=None)
    assert not world.plans.save_extracted(attempt, extracted, expires=None)
    assert world.plans.extracted(attempt) == twins


def test_a_plan_replaces_a_longer_one(world, attempt):
    """A new plan replaces an older one, whatever items that one left behind."""
    long = plan_for(candidates(3_000, world.clock()))
    short = replace(plan_for(candidates(3, world.clock(), seed=3)), version=2)
    for plan in (long, short, long):
        assert world.plans.save_plan(attempt, plan, expires=None)
        assert world.plans.plan(attempt) == plan


def test_an_attempt_that_is_not_current_stores_nothing(world, attempt):
    """A long list of a late attempt is refused at its first transaction."""
    late = replace(attempt, attempt=7)
    assert not world.plans.save_extracted(late, candidates(5_000, world.clock()), expires=None)
    prefix = [item for item in aws.dump(world.client) if item["SK"]["S"].startswith("P#")]
    assert not prefix
    assert world.facts(SCOPE) == []
