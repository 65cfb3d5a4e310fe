"""Requests to forget guard against what is older than they are and is learnt later."""

from datetime import timedelta
from typing import Any

import pytest

from streambank.model.erasure import ErasureTarget
from streambank.model.operation import Operation, OperationState
from streambank.model.verdict import Verdict
from streambank.pipeline.generation.redrive import redrive
from streambank.pipeline.jobs.erase import erase_scope
from streambank.rules.forgetting import FORGOTTEN
from streambank_local.basic.consolidator import BasicConsolidator
from tests import aws
from tests.world import SCOPE, Unreliable, World, event

ALLERGY = "I am allergic to peanuts."
FORGET = "Forget: I am allergic to peanuts."
TEA = "I like green tea."


@pytest.fixture
def world(client: Any) -> World:
    return World(client, extractor=Unreliable(), consolidator=BasicConsolidator())


def _parked(world: World, *texts: str, **fields: Any) -> Operation:
    """Return the operation of a window with *texts* that is parked because the model was away."""
    world.extractor.is_away = True
    sent = world.ingest(*(event(text) for text in texts), force_flush=True, **fields)
    world.finish()
    world.extractor.is_away = False
    operation = world.operation(sent.operation.id)
    assert operation.state is OperationState.PARKED
    return operation


def _learn(world: World, text: str, **fields: Any) -> Operation:
    world.clock.move(minutes=1)
    sent = world.ingest(event(text), force_flush=True, **fields)
    world.settle()
    operation = world.operation(sent.operation.id)
    assert operation.state is OperationState.DONE
    return operation


def _redrive(world: World, parked: Operation) -> list[tuple[Verdict, str]]:
    """Generate the *parked* window and return its verdicts with their reasons."""
    redrive("default", parked.id, context=world.redriving)
    world.settle()
    assert world.operation(parked.id).state is OperationState.DONE
    window = world.windows.get("default", parked.id.sid, parked.id.window)
    assert window
    return [(one.verdict, one.reason) for one in world.plans.verdicts(window)]


@pytest.mark.parametrize("stream_id", ["default", "other"])
def test_what_was_forgotten_is_not_learnt_later(world: World, stream_id: str) -> None:
    """A parked statement, a request to forget that matches nothing, a redrive: it is not remembered, all else is."""
    parked = _parked(world, ALLERGY, TEA)
    _learn(world, FORGET, stream_id=stream_id)
    assert _redrive(world, parked)[0] == (Verdict.REJECTED, FORGOTTEN)
    assert world.facts() == [TEA]


def test_one_request_forgets_all_that_is_older(world: World) -> None:
    """Each statement of the parked window that the request is about is refused, not only the nearest."""
    parked = _parked(world, ALLERGY, TEA, "I'm allergic to peanuts.")
    _learn(world, FORGET)
    verdicts = [verdict for verdict, _ in _redrive(world, parked)]
    assert verdicts.count(Verdict.REJECTED) == 2
    assert world.facts() == [TEA]


def test_a_request_that_matched_guards_too(world: World) -> None:
    """Where the request deleted a memory, an older statement of the same is not learnt afterwards either."""
    _learn(world, ALLERGY)
    parked = _parked(world, ALLERGY)
    _learn(world, FORGET)
    assert world.facts() == []
    _redrive(world, parked)
    assert world.facts() == []


def test_what_is_said_anew_is_a_new_fact(world: World) -> None:
    """A request says nothing of later statements, and no model is asked about them."""
    _learn(world, FORGET)
    _learn(world, ALLERGY)
    assert world.facts() == [ALLERGY]


def test_a_request_of_another_scope_guards_nothing(world: World) -> None:
    """What one user asked to forget, another one keeps."""
    parked = _parked(world, ALLERGY)
    _learn(world, FORGET, scope={"user_id": "u2"})
    _redrive(world, parked)
    assert world.facts() == [ALLERGY]


def test_a_request_expires_with_its_events(world: World) -> None:
    """A request is kept for as long as the events that it is from."""
    parked = _parked(world, ALLERGY)
    _learn(world, FORGET)
    world.clock.move(seconds=timedelta(days=91).total_seconds())
    _redrive(world, parked)
    assert world.facts() == [ALLERGY]


def test_an_erasure_takes_requests_along(world: World) -> None:
    """Nothing of a request is stored after the erasure of its scope, and it guards nothing."""
    _learn(world, FORGET)
    assert any("fgt" in item for item in aws.dump(world.client))
    erase_scope("default", SCOPE, ErasureTarget(), context=world.erasing())
    assert not any("fgt" in item for item in aws.dump(world.client))


@pytest.mark.slow
def test_a_scope_keeps_its_newest_requests(world: World) -> None:
    """However many requests there are, the item that holds them stays small."""
    for number in range(30):
        _learn(world, f"Forget: the thing number {number} {'x' * 1_000}")
    [version] = [item for item in aws.dump(world.client) if "fgt" in item]
    requests = world.memories.version("default", SCOPE).requests
    assert requests[0].text.startswith("Forget: the thing number 29 ")
    assert len(requests) == 15
    assert len(version["fgt"]["B"]) < 16_000
