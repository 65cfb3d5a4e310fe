"""A deletion outlives its evidence: in flight, redriven, replayed after the id's horizon, and as context (I11)."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from streambank.model.operation import OperationState
from streambank.model.verdict import Verdict
from streambank.pipeline.generation.redrive import redrive
from streambank.pipeline.memories.deletion import delete_memory
from streambank.rules.forgetting import FORGOTTEN
from tests.world import SCOPE, Unreliable, World, event

BEES = "I keep bees"


@pytest.fixture
def world(client: Any) -> World:
    return World(client, extractor=Unreliable())


def delete(world: World, fact: str = BEES) -> None:
    """Delete the memory that says *fact*, as the route does, a minute later."""
    world.clock.move(minutes=1)
    [memory] = [one for one in world.memories.of_scope("default", SCOPE, now=world.clock()) if one.fact == fact]
    stores = {"memories": world.memories, "retry_policy": world.retry_policy, "id_secret": world.id_secret}
    delete_memory("default", memory.id, now=world.clock(), **stores)


def learn(world: World, *events: dict[str, Any], **fields: Any) -> None:
    world.clock.move(minutes=1)
    world.ingest(*events, forceFlush=True, **fields)
    world.settle()


def verdicts(world: World, operation: Any) -> list[tuple[Verdict, str]]:
    window = world.windows.get("default", operation.sid, operation.window)
    assert window
    return [(one.verdict, one.reason) for one in world.plans.verdicts(window)]


def test_a_window_in_flight_does_not_bring_it_back(world):
    """The same statement, said before the deletion and generated after it, is refused."""
    learn(world, event(BEES, "e1"))
    said = world.ingest(event(BEES, "e2"), forceFlush=True, streamId="other")
    delete(world)
    world.settle()
    assert verdicts(world, said.operation.id) == [(Verdict.REJECTED, FORGOTTEN)]
    assert world.facts() == []


def test_a_redriven_window_does_not_bring_it_back(world):
    """A window that was parked before the deletion is refused too."""
    learn(world, event(BEES, "e1"))
    world.extractor.is_away = True
    parked = world.ingest(event(BEES, "e2"), forceFlush=True, streamId="other").operation.id
    world.finish()
    assert world.operation(parked).state is OperationState.PARKED
    world.extractor.is_away = False
    delete(world)
    redrive("default", parked, context=world.redriving)
    world.settle()
    assert verdicts(world, parked) == [(Verdict.REJECTED, FORGOTTEN)]
    assert world.facts() == []


def test_a_replay_after_the_horizon_does_not_bring_it_back(world):
    """The marker of the id has expired: the event is accepted again, and no model reads it."""
    learn(world, event(BEES, "e1"))
    delete(world)
    world.clock.move(days=120)
    asked = len(world.extractor.requests)
    again = world.ingest(event(BEES, "e1"), forceFlush=True)
    assert again.accepted == 1
    world.settle()
    assert world.facts() == []
    assert len(world.extractor.requests) == asked


def test_a_replay_beside_new_events_is_not_read(world):
    """A window that has the event again beside others is read without it."""
    learn(world, event(BEES, "e1"))
    delete(world)
    world.clock.move(days=120)
    learn(world, event(BEES, "e1"), event("I live in Graz", "e2"))
    assert [turn.text for turn in world.extractor.requests[-1].turns] == ["I live in Graz"]
    assert world.facts() == ["I live in Graz"]


def test_an_event_without_an_id_is_known_by_its_time(world):
    """A repetition with the same time is not read again; one without a time is new."""
    timed = event(BEES, eventTime="2026-02-01T10:00:00Z")
    learn(world, timed)
    delete(world)
    learn(world, timed)
    assert world.facts() == []
    learn(world, event(BEES))
    assert world.facts() == [BEES]


def test_what_it_cited_is_no_context_any_more(world):
    """The next window's overlap leaves out the turn that a deleted memory cited."""
    rule = {"generationRule": {"eventCount": 3, "overlapEventCount": 2}}
    learn(world, event(BEES, "e1"), event("I like tea", "e2"), generationTriggerConfig=rule)
    delete(world)
    learn(world, event("I live in Graz", "e3"))
    texts = [turn.text for turn in world.extractor.requests[-1].turns]
    assert BEES not in texts
    assert "I live in Graz" in texts


def test_what_is_said_anew_is_a_new_fact(world):
    """A statement after the deletion, in an event of its own, is remembered."""
    learn(world, event(BEES, "e1"))
    delete(world)
    learn(world, event(BEES, "e2"))
    assert world.facts() == [BEES]


def test_it_counts_for_four_hundred_days(world):
    """After that nothing is known of the memory any more."""
    learn(world, event(BEES, "e1"))
    delete(world)
    world.clock.move(days=401)
    learn(world, event(BEES, "e1", eventTime="2026-02-01T10:00:00Z"))
    assert world.facts() == [BEES]


def test_a_deletion_between_plan_and_commit_is_noticed(world):
    """The scope's version has moved: the plan is made again, and the candidate is refused."""
    learn(world, event(BEES, "e1"))
    said = world.ingest(event(f"{BEES}!", "e2"), forceFlush=True, streamId="other")
    world.deliver()
    commit, deleted = World._commit, []

    def after_deletion(payload: dict[str, Any]) -> dict[str, Any]:
        if not deleted:
            deleted.append(1)
            delete(world)
        return commit(world, payload)

    tasks = world.tasks()
    world.tasks = lambda: {**tasks, "Commit": after_deletion}  # type: ignore[method-assign]
    world.settle()
    world.recover(10)
    assert deleted
    assert world.facts() == []
    assert verdicts(world, said.operation.id) == [(Verdict.REJECTED, FORGOTTEN)]


def test_older_evidence_adds_its_source(world):
    """A restated fact of an earlier time is one source and one statement more, and makes no revision."""
    learn(world, event(BEES, "e1"))
    [before] = world.memories.of_scope("default", SCOPE, now=world.clock())
    earlier = (world.clock() - timedelta(days=30)).isoformat()
    learn(world, event(BEES, "e2", eventTime=earlier), streamId="other")
    [after] = world.memories.of_scope("default", SCOPE, now=world.clock())
    assert len(after.evidence) == 2
    assert len(after.statements) == 2
    assert replace(after, evidence=before.evidence, statements=before.statements) == before
