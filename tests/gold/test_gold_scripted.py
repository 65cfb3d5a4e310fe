"""What a scope remembers when the model answers as the case says."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from streambank_local.evaluation.cases import Case, all_cases
from streambank_local.evaluation.playing import Player, player
from tests.gold.playing import ScriptedModels, explained, play_scripted

CASES = all_cases()


@pytest.fixture(scope="module")
def models() -> ScriptedModels:
    return ScriptedModels()


@pytest.fixture(scope="module")
def playing(models: ScriptedModels) -> Iterator[Player]:
    """A service for all cases, each in a bank of its own."""
    with player(models) as playing:
        yield playing


def test_the_set_is_large_and_names_each_case_once() -> None:
    """There are at least seventy cases, their ids differ, and each names a fact that must never appear."""
    assert len({case.id for case in CASES}) == len(CASES) >= 70
    assert all(case.why and case.must_not and case.windows for case in CASES)


# Five of six are slow, but for what a model may get wrong: each takes a third of a second.
HURRIED = [
    pytest.param(case, id=case.id, marks=[pytest.mark.slow] if number % 6 and case.kind != "judgement" else [])
    for number, case in enumerate(CASES)
]


@pytest.mark.parametrize("case", HURRIED)
def test_the_replies_of_a_case_make_its_memories(playing: Player, models: ScriptedModels, case: Case) -> None:
    """With its own replies a case is fully met; each reply is used, and each memory that one names was given."""
    judgement, script = play_scripted(playing, models, case)
    assert judgement.is_met, explained([judgement])
    assert (script.unused(), script.problems) == ([], [])
