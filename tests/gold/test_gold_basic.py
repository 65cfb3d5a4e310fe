"""What a scope remembers with the basic model."""

from __future__ import annotations

import pytest

from streambank_local.basic.models import BasicModels
from streambank_local.evaluation import scores
from streambank_local.evaluation.cases import all_cases
from streambank_local.evaluation.judging import Judgement
from streambank_local.evaluation.playing import player
from tests.gold.playing import explained, play_all

CASES = all_cases()
LEAST_SHARE = 0.7


@pytest.fixture(
    scope="module", params=[pytest.param(16, id="a-sixteenth"), pytest.param(1, id="all", marks=pytest.mark.slow)]
)
def judgements(request: pytest.FixtureRequest) -> list[Judgement]:
    """The cases, or every eighth of them, each played once."""
    with player(BasicModels()) as playing:
        return play_all(playing, CASES[:: request.param])


def test_most_cases_are_met(judgements: list[Judgement]) -> None:
    """At least seven in ten cases are fully met; the report says which are not."""
    assert scores.score("all", judgements).share_met >= LEAST_SHARE, explained(judgements)


def test_nothing_appears_that_must_not(judgements: list[Judgement]) -> None:
    """No case leaves, after any of its windows, a fact that is invented, planted or somebody else's."""
    wrong = [one for one in judgements if one.forbidden]
    assert not wrong, explained(wrong)
