"""What a scope remembers with the basic model."""

from __future__ import annotations

import pytest

from tests.gold import loading, playing
from tests.gold.loading import Judgement

CASES = loading.all_cases()
LEAST_SCORE = 0.7


@pytest.fixture(
    scope="module", params=[pytest.param(8, id="an-eighth"), pytest.param(1, id="all", marks=pytest.mark.slow)]
)
def judgements(request: pytest.FixtureRequest) -> list[Judgement]:
    """The cases, or every eighth of them, each played once."""
    return playing.all_played(CASES[:: request.param], playing.embedded)


def test_most_cases_are_met(judgements: list[Judgement]) -> None:
    """At least seven in ten cases are fully met; the report says which are not."""
    print(loading.report(judgements))
    assert loading.score(judgements) >= LEAST_SCORE, loading.report(judgements)


def test_nothing_appears_that_must_not(judgements: list[Judgement]) -> None:
    """No case leaves, after any of its windows, a fact that is invented, planted or somebody else's."""
    wrong = [each for each in judgements if each.planted]
    assert not wrong, loading.report(wrong)
