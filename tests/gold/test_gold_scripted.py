"""What a scope remembers when the model answers as a good one would."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests import aws
from tests.gold import loading, playing
from tests.gold.loading import Case

CASES = loading.all_cases()


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """An emulator for all cases, each in a bank of its own."""
    with aws.dynamodb() as client:
        yield client


def test_the_set_is_large_and_names_each_case_once() -> None:
    """There are at least seventy cases, their ids differ, and each names a fact that must never appear."""
    assert len({case.id for case in CASES}) == len(CASES) >= 70
    assert all(case.why and case.must_not and case.windows for case in CASES)


# Five of six are slow: each takes a tenth of a second of the emulator's time.
HURRIED = [
    pytest.param(case, id=case.id, marks=[pytest.mark.slow] if number % 6 else []) for number, case in enumerate(CASES)
]


@pytest.mark.parametrize("case", HURRIED)
def test_good_replies_make_good_memories(client: Any, case: Case) -> None:
    """With the replies of a good model a case is fully met, and every reply of the script is asked for."""
    script = playing.Script(case)
    judgement = playing.played(client, case, playing.scripted(script))
    assert judgement.met, loading.report([judgement])
    assert script.unused() == []
