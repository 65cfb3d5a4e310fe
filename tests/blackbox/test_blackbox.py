"""What the documents promise holds over HTTP, whatever several tenants do; a broken service is noticed."""

from collections import Counter
from collections.abc import Iterator
from random import Random

import pytest

from streambank_local.service import LocalService
from tests.blackbox.breaks import BREAKS, broken
from tests.blackbox.history import ACTIONS, HistoryFailure, choose, play

# Every action is among so many: whatever is broken, the history meets it.
ACTIONS_TO_NOTICE = 80
# What the failure says where one check alone can notice the break.
REASONS = {
    "an event id counts again": "accepted, duplicate, conflicting are",
    "other content of an id is not reported": "accepted, duplicate, conflicting are",
    "an event more than the rule says is waited for": "pending events, must have",
    "a timer does not fire": "pending events, must have",
    "a deleted bank keeps its scopes": "the table holds what was erased or refused",
    "any secret opens a key": "must be 401",
    "roles are not checked": "must be 403",
    "usage is not counted": "calls must be",
    "a pin is forgotten": "must have the pin",
    "a move leaves memories": "memories were to be moved",
    "a scope learns after a no": "a scope that learns nothing took events",
    "what a policy names is stored": "took what the policy refuses",
}


@pytest.fixture
def service() -> Iterator[LocalService]:
    with LocalService(parameters={"AuthMode": "keys"}, timer_enabled=False) as service:
        yield service


def test_a_short_history_keeps_every_promise(service):
    """Two tenants ingest, edit, erase and attack each other for a while, and every total is right."""
    assert play(service.base_url, seed=3762, actions=25).total() == 25


@pytest.mark.parametrize("seed", range(5))
def test_a_history_of_some_length_has_every_action(seed):
    """Rare actions are in every history that has room for them, as many as the weights say in longer ones."""
    assert set(choose(Random(seed), ACTIONS_TO_NOTICE)) == set(ACTIONS)
    assert len(choose(Random(seed), ACTIONS_TO_NOTICE)) == ACTIONS_TO_NOTICE


@pytest.mark.slow
def test_long_histories_keep_every_promise(service):
    """The same for three tenants, until each action was taken many times."""
    taken = _play_seeds(service, range(100, 106), actions=150, tenants=3)
    assert set(taken) == {action.__name__ for action in ACTIONS}


@pytest.mark.slow
@pytest.mark.parametrize("name", BREAKS)
def test_a_broken_promise_is_noticed(service, name):
    """With one promise broken, something that eighty actions check does not hold."""
    with broken(name), pytest.raises(HistoryFailure, match=f"^AssertionError: .*{REASONS.get(name, '')}"):
        play(service.base_url, 200, ACTIONS_TO_NOTICE)


def _play_seeds(service, seeds, actions, tenants=2) -> Counter[str]:
    return sum((play(service.base_url, seed, actions, tenants) for seed in seeds), start=Counter())
