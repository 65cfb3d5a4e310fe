"""Moving much: in batches, from where an earlier run stopped; and any history, there and back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streambank.model.ids import scope_id, stream_key
from streambank.model.window import DirectMemory
from streambank.pipeline.generation.generate import GenerateCall, generate
from streambank.pipeline.jobs import move
from streambank.pipeline.memories.edit import update_memory
from streambank.rules.edits import Edit
from tests import aws, scanner
from tests.pipeline.test_pipeline_erase_large import busy, calls_of
from tests.pipeline.test_pipeline_move import NEVER, NEW, WORD, exported, forget, moved
from tests.world import SCOPE, World, event

FEW = settings(max_examples=8 if settings.default.max_examples < 100 else 150)
NAMES = ("s", "t", "")


def test_moving_many_windows_takes_fewer_calls_than_there_are(client):
    """Three hundred windows with an event and a plan each are in the target in fewer calls than a third of them."""
    world = busy(client, 300)
    assert calls_of(client, lambda: moved(world)) < 100
    done = world.moving().moves.find("default", scope_id(SCOPE), 1)
    assert (done.counts["windows"], done.counts["events"], done.counts["eventFingerprints"]) == (300, 300, 300)
    source = f"S#default#{stream_key(SCOPE, 's')} "
    assert not [place for place in scanner.places(client, WORD) if place.startswith(source)]
    assert world.windows.get("default", stream_key(NEW, "s"), 300)


@pytest.mark.slow
def test_a_large_stream_is_moved_in_many_runs(client):
    """However little time a run has, it goes on where the last one stopped, and reads nothing twice."""
    world = busy(client, 300)
    whole = calls_of(client, lambda: moved(world))
    world = busy(client, 300)
    begun = move.move_scope("default", SCOPE, NEW, context=world.moving(NEVER))
    runs = 0

    def to_the_end() -> None:
        nonlocal runs
        while move.proceed(begun, context=world.moving(NEVER)).ended is None:
            runs += 1

    assert calls_of(client, to_the_end) < whole + 20 * runs
    assert world.moving().moves.find("default", scope_id(SCOPE), 1).counts["windows"] == 300


ACTS = st.one_of(
    st.tuples(st.just("say"), st.sampled_from(NAMES), st.sampled_from(["1", "2", "3", None]), st.booleans()),
    st.tuples(st.sampled_from(["settle", "forget", "edit", "state", "wait"])),
)


def act(world: World, number: int, step: tuple[Any, ...]) -> None:
    memories = world.memories.of_scope("default", SCOPE, now=world.clock())
    match step:
        case ("say", name, event_id, is_flushed):
            said = event(f"{number} {WORD}", event_id)
            world.ingest(said, streamId=name, rule={"eventCount": 3}, forceFlush=is_flushed)
        case ("settle",):
            world.settle()
        case ("forget",) if memories:
            forget(world, memories[0].fact[0])
        case ("edit",) if memories:
            edit = Edit(frozenset({"fact"}), f"{number} edited")
            update_memory("default", memories[0].id, None, edit, context=world.editing())
        case ("state",):
            stated = (DirectMemory(f"{number} stated"),)
            generate(GenerateCall("default", SCOPE, token="", memories=stated), context=world.generating)
        case ("wait",):
            world.clock.move(hours=1)


@FEW
@given(st.lists(ACTS, max_size=12), st.integers(0, 40))
def test_any_scope_is_the_same_after_a_move_there_and_back(
    emulator: Any, history: list[tuple[Any, ...]], steps: int
) -> None:
    """Whatever a scope has, and wherever the first move pauses: an export has the same lines, and nothing is lost."""
    aws.empty(emulator)
    world = World(emulator)
    for number, step in enumerate(history):
        act(world, number, step)
    before = exported(world)
    left = iter(range(steps))
    begun = move.move_scope("default", SCOPE, NEW, context=world.moving(lambda: next(left, None) is not None))
    assert move.proceed(begun, context=world.moving()).ended
    assert world.facts() == []
    moved(world, NEW, SCOPE)
    assert exported(world) == before
    facts = world.facts()
    world.finish()
    assert set(facts) <= set(world.facts())
    assert world.facts(NEW) == []
