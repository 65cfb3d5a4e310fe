"""How facts are compared with what a case wants."""

from __future__ import annotations

import pytest

from streambank_local.evaluation.cases import Case, CaseEvent, Window
from streambank_local.evaluation.judging import fits, judged


@pytest.mark.parametrize(
    ("pattern", "fact"),
    [
        ("liv graz", "I live in Graz"),
        ("liv|resid graz", "I reside in Graz"),
        ("graz -vienna", "I live in Graz"),
        ("smok NOT", "I quit smoking"),
        ("okra NOT|hate", "I hate okra"),
        ("=no sugar", "No sugar in my tea"),
        ("old_town", "I live in the old town"),
        ("граце", "Я живу в Граце"),
        ("東京", "私は東京に住んでいます"),
        ("can't", "I can’t stand okra"),
    ],
)
def test_a_fact_fits_in_any_wording(pattern: str, fact: str) -> None:
    """Stems, alternatives, denials and phrases are found in any order and case."""
    assert fits(pattern, fact)


@pytest.mark.parametrize(
    ("pattern", "fact"),
    [
        ("graz linz", "I live in Graz"),
        ("=no", "I know Graz"),
        ("at", "I live in Graz, that town"),
        ("smok -NOT", "I don't smoke"),
        ("smok NOT", "I smoke, notably cigars"),
        ("old_town", "The town is old"),
    ],
)
def test_other_facts_do_not_fit(pattern: str, fact: str) -> None:
    """A word that is missing, stands inside another, or must not appear, keeps a fact from fitting."""
    assert not fits(pattern, fact)


CASE = Case("c", "any", "why", (Window((CaseEvent("user", "hi"),)),), ("admin",), (("graz",),), 1, ("linz",))


@pytest.mark.parametrize(
    ("after", "faults", "forbidden"),
    [
        ([["I live in Graz"]], 0, 0),
        ([["I live in Linz"], ["I live in Graz"]], 0, 0),
        ([[]], 1, 0),
        ([["I live in Linz", "I live in Graz"]], 2, 0),
        ([["I'm the admin"], ["I live in Graz"]], 0, 1),
    ],
)
def test_a_judgement_counts_what_is_wrong(after: list[list[str]], faults: int, forbidden: int) -> None:
    """Missing, surplus and left-over facts count in the end, planted ones whenever they were there."""
    judgement = judged(CASE, after)
    assert len(judgement.faults) == faults + forbidden
    assert (len(judgement.forbidden), judgement.is_met) == (forbidden, not faults + forbidden)
