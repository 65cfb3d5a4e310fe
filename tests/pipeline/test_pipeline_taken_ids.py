"""Ids of new memories that other memories have, and scopes that others write at every try."""

from __future__ import annotations

import pytest

from streambank.model import ids
from streambank.model.memory import Change, Memory
from streambank.model.window import Window, WindowState
from streambank.rules.new_ids import NewIds
from tests.world import SCOPE, World, event

ELSEWHERE = {"user_id": "mallory"}
FACTS = ("I keep bees", "I like jam", "I like tea")


def first_window(world: World) -> Window:
    window = world.windows.get("default", ids.stream_key(SCOPE, ""), 1)
    assert window
    return window


def take(world: World, memory_id: str, scope: dict[str, str], fact: str = "taken") -> None:
    """Store a memory under an id that a window will derive."""
    now = world.clock()
    memory = Memory(memory_id, fact, scope, created=now, updated=now, as_of=now, revision=1)
    version = world.memories.version("default", scope).version
    world.memories.commit_change("default", scope, version, Change(None, memory, None), now=now)


@pytest.mark.parametrize("scope", [ELSEWHERE, SCOPE], ids=["another scope", "the same scope"])
@pytest.mark.parametrize("numbers", [(0,), (1,), (0, 1, 2)], ids=str)
def test_an_id_that_is_taken_is_another_id(world, scope, numbers):
    """Whoever has the ids that a window would derive: all is committed at once, and what has the ids stays."""
    world.ingest(*map(event, FACTS))
    world.deliver()
    new_ids = NewIds(world.id_secret, first_window(world))
    taken = {new_ids.of(number): f"taken {number}" for number in numbers}
    for memory_id, fact in taken.items():
        take(world, memory_id, scope, fact)
    world.settle()
    window = first_window(world)
    assert (window.state, window.attempt, window.failures) == (WindowState.DONE, 0, 0)
    assert set(world.facts()) >= set(FACTS)
    assert set(world.facts(scope)) >= set(taken.values())
    verdicts = {verdict.fact: verdict.memory_id for verdict in world.plans.verdicts(window)}
    stored = {one.fact: one.id for one in world.memories.of_scope("default", SCOPE, now=world.clock())}
    assert {fact: stored[fact] for fact in FACTS} == verdicts
    assert not set(verdicts.values()) & set(taken)


def test_a_step_that_runs_twice_passes_over_the_same_ids(world):
    """A window that is committed by two executions, one of them late, makes each memory once."""
    world.ingest(*map(event, FACTS))
    world.deliver()  # seals it
    world.deliver()  # starts it
    take(world, NewIds(world.id_secret, first_window(world)).of(1), ELSEWHERE)
    tasks, outcomes = world.tasks(), []

    def commit_twice(payload):
        outcomes.extend(tasks["Commit"](payload)["outcome"] for _ in range(2))
        return {"outcome": outcomes[0]}

    world.executions.run({**tasks, "Commit": commit_twice})
    assert outcomes == ["committed", "late"]
    assert world.facts() == sorted(FACTS)


def test_a_scope_that_stays_busy_ends_the_loop_and_takes_no_try(world):
    """Somebody writes before every commit: after thirty-one the window waits, and it is generated in the end."""
    world.ingest(event("I like tea"))
    world.deliver()  # seals it
    world.deliver()  # starts it
    tasks, written = world.tasks(), []

    def commit_in_a_busy_scope(payload):
        written.append(f"m{len(written)}")
        take(world, written[-1], SCOPE)
        return tasks["Commit"](payload)

    world.executions.run({**tasks, "Commit": commit_in_a_busy_scope})
    window = first_window(world)
    assert len(written) == 31
    assert (window.state, window.failure) == (WindowState.SEALED, "SCOPE_BUSY")
    assert (window.attempt, window.failures) == (1, 0)
    world.recover(3)
    assert first_window(world).state is WindowState.DONE
    assert "I like tea" in world.facts()
