"""Executions that end without recording an outcome: which of them count as failures of their window."""

from typing import Any

import pytest

from streambank.model.operation import OperationState
from streambank.model.window import Attempt
from tests.world import World, event


@pytest.mark.parametrize("error", ["Lambda.TooManyRequestsException", "Lambda.ServiceException"])
def test_a_throttle_takes_no_try(client: Any, error: str) -> None:
    """However often even the recording of a failure is throttled, the window keeps its tries, and is done at last."""
    world = World(client)
    sent = world.ingest(event("fact", "e0"), force_flush=True)
    for _ in range(30):
        world.clock.move(minutes=3)
        world.sweep()
        world.executions.die(error)
    window = world.windows.get("default", sent.operation.id.sid, 1)
    assert window
    assert (window.failures, window.failure) == (0, error)
    assert window.attempt > 5
    world.finish()
    assert world.operation(sent.operation.id).state is OperationState.DONE
    assert world.facts() == ["fact"]


@pytest.mark.parametrize("error", ["", "States.Timeout", "Lambda.Unknown"])
def test_any_other_death_takes_a_try(client: Any, error: str) -> None:
    """An execution that always dies parks its window."""
    world = World(client)
    sent = world.ingest(event("fact", "e0"), force_flush=True)
    for _ in range(60):
        world.clock.move(minutes=3)
        world.sweep()
        world.executions.die(error)
    window = world.operation(sent.operation.id).window
    assert window
    assert (window.state, window.failures, window.failure) == ("PARKED", 5, "EXECUTION_DIED")


def test_a_throttled_model_takes_no_try_for_a_day(client: Any) -> None:
    """A window whose model is throttled keeps its tries for a day; the next throttles are failures, and park it."""
    world = World(client)
    sent = world.ingest(event("fact", "e0"), force_flush=True)
    world.deliver()
    failures = []
    for _ in range(32):
        for payload in list(world.executions.running.values()):
            world.windows.note_provider_error(_attempt(payload), "ThrottlingException r-1")
            world.tasks()["Fail"]({**payload, "outcome": "MODEL_THROTTLED"})
        world.executions.die()
        window = world.windows.get("default", sent.operation.id.sid, 1)
        assert window
        failures.append((window.failures, window.state.value))
        world.clock.move(minutes=80)
        world.sweep()
    assert failures[17] == (0, "SEALED")
    assert failures[-1] == (5, "PARKED")
    assert (window.failure, window.provider_error) == ("MODEL_THROTTLED", "ThrottlingException r-1")


def _attempt(payload: dict[str, Any]) -> Attempt:
    return Attempt(payload["bank"], payload["sid"], payload["win"], payload["att"])
