"""A plan is committed in slices of up to a dozen changes: few transactions, and each may be the last."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pytest

from benchmarks.growth_cases import _Embedder as LongVectors
from benchmarks.units import Meter
from streambank.llm.ports import Action, Consolidation, Decision
from streambank.model import ids
from streambank.model.extraction import ExtractedFact, Extraction, FactChange
from streambank.model.window import Attempt, Window, WindowState
from streambank.rules.new_ids import NewIds
from tests import aws
from tests.aws import Killed
from tests.pipeline.test_pipeline_faults import Killer, _armed
from tests.pipeline.test_pipeline_interleavings import _interrupted
from tests.pipeline.test_pipeline_taken_ids import ELSEWHERE, take
from tests.world import SCOPE, OneFactPerEvent, World, event

# Two slices: a dozen, and the rest.
FACTS = [f"I like tea number {number:02}" for number in range(14)]
LONG = [f"I like tea number {number:02}, of the best kinds in town,".ljust(200, "z") for number in range(20)]


def planned(world: World, facts: list[str]) -> dict[str, Any]:
    """Bring a window of *facts* to its commit, and return what the commit is given."""
    world.ingest(*(event(fact, f"id of {fact}") for fact in facts), forceFlush=True)
    world.deliver()  # seals it
    world.deliver()  # starts it
    [payload] = world.executions.running.values()
    tasks = world.tasks()
    assert tasks["Extract"](payload)["outcome"] == "extracted"
    assert tasks["Consolidate"](payload)["outcome"] == "planned"
    return payload


def window_of(world: World, number: int = 1) -> Window:
    window = world.windows.get("default", ids.stream_key(SCOPE, ""), number)
    assert window
    return window


def check(world: World, facts: list[str]) -> None:
    """Each fact is a memory, has one verdict that names it, and one revision."""
    memories = world.memories.of_scope("default", SCOPE, now=world.clock())
    assert sorted(one.fact for one in memories) == sorted(facts)
    window = window_of(world)
    assert (window.state, window.outcome["verdicts"]) == (WindowState.DONE, {"CREATED": len(facts)})
    verdicts = world.plans.verdicts(window)
    assert [one.number for one in verdicts] == list(range(len(facts)))
    assert {one.fact: one.memory_id for one in verdicts} == {one.fact: one.id for one in memories}
    revisions = [len(world.memories.revisions("default", one, now=world.clock())) for one in memories]
    assert revisions == [1] * len(facts)


def test_twenty_facts_are_two_transactions_of_few_write_units(world):
    """Twenty facts of 200 bytes cost at most 4 transactions and 12 write units a fact; an index's are among them."""
    world.embedder = LongVectors()
    payload, meter = planned(world, LONG), Meter(world.client, aws.TABLE)
    with meter.running() as bill:
        assert world.tasks()["Commit"](payload)["outcome"] == "committed"
    assert bill.calls["TransactWriteItems"] == 2
    assert bill.write_units + bill.index_units <= 9 * len(LONG)
    assert bill.writes["R"] == 0
    check(world, LONG)


def test_the_version_and_the_cursor_count_candidates(world):
    """After each slice the scope's version is the one that the plan expects at the window's cursor."""
    payload = planned(world, FACTS)
    plan = world.plans.plan(Attempt("default", ids.stream_key(SCOPE, ""), 1, 0))
    pairs, transact = [], world.table.transact

    def observed(actions):
        transact(actions)
        pairs.append((window_of(world).cursor, world.memories.version("default", SCOPE).version))

    world.table.transact = observed
    assert world.tasks()["Commit"](payload)["outcome"] == "committed"
    assert pairs == [(12, plan.version_at(12)), (14, plan.version_at(14))]


SLOW_AND_FAST = pytest.mark.parametrize("is_every", [False, pytest.param(True, marks=pytest.mark.slow)], ids=str)


def calls_of_a_commit(client: Any, *, is_every: bool) -> list[int]:
    """Return the numbers of the AWS calls of a commit of two slices: of every call, or of its transactions."""
    aws.empty(client)
    world, dry = World(client), Killer()
    payload = planned(world, FACTS)
    disarm = _armed(client, dry)
    world.tasks()["Commit"](payload)
    disarm()
    assert dry.names.count("TransactWriteItems") == 2
    return [at for at, name in enumerate(dry.names) if is_every or name == "TransactWriteItems"]


@SLOW_AND_FAST
def test_a_kill_around_a_call_of_a_commit_loses_nothing(client, is_every):
    """Killed before or after a call of a commit of two slices, the next execution commits the rest, and only that."""
    for at, after in itertools.product(calls_of_a_commit(client, is_every=is_every), (False, True)):
        aws.empty(client)
        world, killer = World(client), Killer(at, after)
        payload = planned(world, FACTS)
        disarm = _armed(client, killer)
        with pytest.raises(Killed):
            world.tasks()["Commit"](payload)
        disarm()
        world.tasks()["Commit"](payload)
        check(world, FACTS)


@SLOW_AND_FAST
def test_a_twin_before_a_call_of_a_commit_is_harmless(client, is_every):
    """A second execution that commits the plan before a call of the first changes nothing of the result."""
    for at in calls_of_a_commit(client, is_every=is_every):
        aws.empty(client)
        world = World(client)
        payload = planned(world, FACTS)
        commit = lambda world, payload=payload: world.tasks()["Commit"](payload)["outcome"]
        outcomes = []
        _interrupted(world, lambda world: outcomes.append(commit(world)), commit, at)
        assert outcomes[0] in ("late", "conflict")
        check(world, FACTS)


def test_taken_ids_of_one_slice_are_passed_over_at_once(world):
    """Several new memories of a slice whose ids others have get the next ones; the others stay as they are."""
    payload = planned(world, FACTS)
    new_ids = NewIds(world.id_secret, window_of(world))
    taken = [new_ids.of(number) for number in (0, 5, 11, 12)]
    for memory_id in taken:
        take(world, memory_id, ELSEWHERE)
    attempts, commit_slice = [], world.memories.commit_slice

    def counted(*arguments, **more):
        attempts.append(1)
        return commit_slice(*arguments, **more)

    world.memories.commit_slice = counted
    assert world.tasks()["Commit"](payload)["outcome"] == "committed"
    assert len(attempts) == 4  # each slice was refused once
    check(world, FACTS)
    assert world.facts(ELSEWHERE) == ["taken"] * 4


GROWING = ["I like tea and jam", "I like tea, jam and milk", "I like tea, jam, milk and bread"]


class Rewrites:
    """A model that takes every fact for a new text of the first memory."""

    def consolidate(self, request: Any) -> Consolidation:
        return Consolidation(tuple(Decision(one.number, Action.UPDATE, (1,), one.fact, "new") for one in request.facts))


def test_a_memory_that_one_window_changes_three_times_has_all_its_revisions(world):
    """A slice changes a memory once, so changes of one memory are slices of their own, and no text is lost."""
    world.ingest(event("I like tea"), forceFlush=True)
    world.settle()
    world.consolidator = Rewrites()
    world.ingest(*map(event, GROWING), forceFlush=True)
    world.settle()
    [memory] = world.memories.of_scope("default", SCOPE, now=world.clock())
    revisions = world.memories.revisions("default", memory, now=world.clock())
    assert [(one.number, one.fact) for one in revisions] == [
        (4, GROWING[2]),
        (3, GROWING[1]),
        (2, GROWING[0]),
        (1, "I like tea"),
    ]
    verdicts = world.plans.verdicts(window_of(world, 2))
    assert [(one.revision, one.previous_revision) for one in verdicts] == [(2, 1), (3, 2), (4, 3)]


class ForgetsAll:
    """A model that takes the turn "Forget tea" for a request to forget all memories that it was given."""

    def __init__(self) -> None:
        self.everything_else = OneFactPerEvent()

    def extract(self, request: Any) -> Extraction:
        numbers = tuple(one.number for one in request.memories)
        if "Forget tea" not in [turn.text for turn in request.turns]:
            return self.everything_else.extract(request)
        return Extraction((ExtractedFact("Forget tea", (1,), change=FactChange.FORGETS, memories=numbers),))

    def consolidate(self, request: Any) -> Consolidation:
        numbers = tuple(one.number for one in request.memories)
        return Consolidation(tuple(Decision(one.number, Action.DELETE, numbers) for one in request.facts))


MANY = [f"I like tea number {number:02}" for number in range(40)]


def forgetting(client: Any) -> tuple[World, dict[str, Any]]:
    """Return a world with forty memories, and a planned window that forgets them all."""
    aws.empty(client)
    world = World(client)
    world.ingest(*(event(fact) for fact in MANY), forceFlush=True)
    world.settle()
    assert len(world.facts()) == len(MANY)
    world.extractor = world.consolidator = ForgetsAll()
    return world, planned(world, ["Forget tea"])


def check_forgotten(world: World) -> None:
    """Nothing is left, and a verdict names each memory once."""
    assert world.facts() == []
    window = window_of(world, 2)
    assert (window.state, window.outcome["verdicts"]) == (WindowState.DONE, {"DELETED": len(MANY)})
    verdicts = world.plans.verdicts(window)
    assert len({one.memory_id for one in verdicts}) == len(verdicts) == len(MANY)
    assert {one.fact for one in verdicts} == {"Forget tea"}


def test_one_request_forgets_any_number_of_memories(client):
    """A request that both answers take for forty memories forgets all forty, in slices of at most fifteen."""
    world, payload = forgetting(client)
    assert world.tasks()["Commit"](payload)["outcome"] == "committed"
    check_forgotten(world)


@pytest.mark.slow
@pytest.mark.parametrize("is_every", [False, True])
def test_a_kill_between_the_slices_of_one_request_forgets_the_rest(client, is_every):
    """Killed around a call of a commit that forgets forty memories, the next execution forgets those that are left."""
    dry = Killer()
    world, payload = forgetting(client)
    disarm = _armed(client, dry)
    world.tasks()["Commit"](payload)
    disarm()
    calls = [at for at, name in enumerate(dry.names) if is_every or name == "TransactWriteItems"]
    for at, after in itertools.product(calls, (False, True)):
        world, payload = forgetting(client)
        disarm = _armed(client, Killer(at, after))
        with pytest.raises(Killed):
            world.tasks()["Commit"](payload)
        disarm()
        world.tasks()["Commit"](payload)
        check_forgotten(world)


def test_a_plan_for_other_candidates_is_a_conflict(client):
    """A plan that was stored beside another list of candidates is not applied."""
    world, payload = forgetting(client)
    attempt = Attempt("default", ids.stream_key(SCOPE, ""), 2, 0)
    extracted = world.plans.extracted(attempt)
    assert len(extracted.candidates) == 3
    world.plans.extend_extracted(attempt, replace(extracted, candidates=extracted.candidates[:2]), expires=None)
    assert world.tasks()["Commit"](payload)["outcome"] == "conflict"
    assert len(world.facts()) == len(MANY)
