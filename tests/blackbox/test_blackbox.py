"""What the documents promise holds over HTTP, whatever several tenants do; a broken service is noticed."""

from collections import Counter
from collections.abc import Iterator

import pytest

from streambank_local.service import LocalService
from tests.blackbox.breaks import broken
from tests.blackbox.history import ACTIONS, HistoryFailure, play

# `python -m tests.blackbox --broken NAME` plays against the others too.
NOTICED_SOON = {
    "an event id counts again": "accepted, duplicate, conflicting are",
    "roles are not checked": "must be 403",
    "an erasure leaves raw events": "the table holds what was erased or refused",
}


@pytest.fixture
def service() -> Iterator[LocalService]:
    with LocalService(parameters={"AuthMode": "keys"}, timer_enabled=False) as service:
        yield service


def test_a_short_history_keeps_every_promise(service):
    """Two tenants ingest, edit, erase and attack each other for a while, and every total is right."""
    assert play(service.base_url, seed=3762, actions=25).total() == 25


@pytest.mark.slow
def test_long_histories_keep_every_promise(service):
    """The same for three tenants, until each action was taken many times."""
    taken = _play_seeds(service, range(100, 106), actions=150, tenants=3)
    assert set(taken) == {action.__name__ for action in ACTIONS}


@pytest.mark.slow
@pytest.mark.parametrize("name", NOTICED_SOON)
def test_a_broken_promise_is_noticed(service, name):
    """With one promise broken, one of a few histories fails, for that reason."""
    with broken(name), pytest.raises(HistoryFailure, match=NOTICED_SOON[name]):
        _play_seeds(service, range(200, 206), actions=80)


def _play_seeds(service, seeds, actions, tenants=2) -> Counter[str]:
    return sum((play(service.base_url, seed, actions, tenants) for seed in seeds), start=Counter())
