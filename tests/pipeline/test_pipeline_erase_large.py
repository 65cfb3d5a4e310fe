"""Erasing a stream of many windows: in batches, from where an earlier run stopped, at the cost of what is left."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

from streambank.model.ids import scope_id
from streambank.model.window import WindowState
from streambank.pipeline.jobs import erase
from tests import aws, scanner
from tests.aws import Killed
from tests.pipeline.test_pipeline_erase import WORD, erased, said
from tests.pipeline.test_pipeline_faults import Killer, _armed, _clear
from tests.store.large_streams import multiply
from tests.world import SCOPE, World


def busy(client: Any, windows: int) -> World:
    """A stream with many windows, as the rule of each call a window makes them: done ones and, each third, parked."""
    _clear(client)
    world = World(client)
    world.ingest(said("a", "1"), streamId="s", revisionLabels={"l": WORD})
    world.settle()
    multiply(client, world.erasures.streams("default", scope_id(SCOPE))[0], windows)
    return world


def calls_of(client: Any, step: Any) -> int:
    """Return how many calls to the table *step* makes."""
    counter = Killer()
    disarm = _armed(client, counter)
    try:
        step()
    finally:
        disarm()
    return counter.calls


def states(client: Any) -> set[str]:
    return {item["st"]["S"] for item in aws.dump(client) if item["SK"]["S"].startswith("W#")}


def test_erasing_many_windows_takes_fewer_calls_than_there_are(client):
    """Three hundred windows with an event and a plan each go in fewer calls than a third of their number."""
    world = busy(client, 300)
    assert calls_of(client, lambda: erased(world)) < 100
    done = world.erasures.find("default", scope_id(SCOPE))
    assert (done.counts["windows"], done.counts["events"], done.counts["eventFingerprints"]) == (300, 300, 300)
    assert scanner.places(client, WORD) == []
    assert states(client) == {WindowState.DONE, WindowState.ERASED}


@pytest.mark.slow
def test_windows_that_were_erased_before_cost_nothing(client):
    """A second erasure reads none of the windows, and counts none that is gone."""
    world = busy(client, 300)
    erased(world)
    again = calls_of(client, lambda: erased(world))
    assert again < 30
    would = erase.count_scope("default", SCOPE, erase.ErasureTarget(), context=world.erasing())
    assert "windows" not in would


def test_a_window_that_one_run_erased_is_not_touched_by_the_next_one(client):
    """With time for one batch a run, each window is erased, and counted, by one run."""
    world = busy(client, 110)
    job = erase.erase_scope("default", SCOPE, erase.ErasureTarget(), context=world.erasing(lambda: False))
    counted = [job.counts["windows"]]
    for _ in range(3):
        job = erase.proceed(job, context=world.erasing(lambda: False))
        counted.append(job.counts["windows"])
    assert [number for number, _ in itertools.groupby(counted) if number] == [99, 110]


@pytest.mark.slow
def test_every_run_goes_on_where_the_one_before_stopped(client):
    """With time for one batch a run, all runs together make little more calls than one that is not interrupted."""
    world = busy(client, 300)
    whole = calls_of(client, lambda: erased(world))
    world = busy(client, 300)
    runs = itertools.count()

    def in_runs() -> None:
        job = erase.erase_scope("default", SCOPE, erase.ErasureTarget(), context=world.erasing(lambda: False))
        while not job.ended:
            next(runs)
            job = erase.proceed(job, context=world.erasing(lambda: False))
        assert job.counts["windows"] == 300

    assert calls_of(client, in_runs) < whole + 10 * next(runs)
    assert scanner.places(client, WORD) == []


@pytest.mark.slow
def test_a_run_that_is_killed_is_not_repeated_from_its_beginning(client):
    """Killed after a number of calls that is far from enough, run after run, an erasure comes to its end."""
    world = busy(client, 300)
    rounds = _erase_with_kills(client, world, lambda: 20)
    assert 3 <= rounds < 12
    assert scanner.places(client, WORD) == []


@pytest.mark.slow
def test_thirty_thousand_windows_are_erased_whatever_dies(client):
    """A stream of 30,000 windows goes although every run is killed at a random call."""
    world = busy(client, 30_000)
    rng = random.Random(5)
    assert _erase_with_kills(client, world, lambda: rng.randrange(20, 2_000)) > 3
    assert scanner.places(client, WORD) == []
    assert states(client) == {WindowState.DONE, WindowState.ERASED}
    assert world.facts() == []


def _erase_with_kills(client: Any, world: World, life: Any) -> int:
    """Erase the scope in runs that are killed after *life* calls each; return how many runs it took."""
    for number in itertools.count(1):
        disarm = _armed(client, Killer(life(), after=True))
        try:
            done = erased(world, erase.ErasureTarget())
        except Killed:
            continue
        finally:
            disarm()
        assert done.ended
        return number
    raise AssertionError("never reached")
