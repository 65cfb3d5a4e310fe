"""The facts about which a model is asked again, and the memories that it is given with them."""

from datetime import UTC, datetime

import pytest

from streambank.llm.ports import Consolidation
from streambank.model.bank import BankConfig
from streambank.model.decision import Action, Decision
from streambank.model.extraction import FactChange
from streambank.model.memory import Memory
from streambank.model.plan import Candidate
from streambank.pipeline.generation.doubtful import DoubtfulFacts
from streambank.rules import ranking
from streambank.rules.proposals import CLOSE, FORGETS, SEVERAL, UNDECIDED, Proposal

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def memory(name: str, fact: str) -> Memory:
    return Memory(id=name, fact=fact, scope={"user_id": "u1"}, created=NOW, updated=NOW, as_of=NOW)


def proposal(fact: str, *named: Memory, change: FactChange | None = None, doubts: tuple[str, ...] = ()) -> Proposal:
    return Proposal(Candidate(fact, (1,), NOW), change, named, doubts=doubts)


# Their facts have no word in common with what is proposed below.
OTHERS = [memory(f"m{number:02}", "I keep bees") for number in range(2 * ranking.NEAREST)]


def test_a_request_to_forget_is_given_what_it_names_and_what_is_nearest() -> None:
    """The first answer may have missed a memory in another language, so the nearest ones are asked about too."""
    named = memory("z", "Ich mag Tee")
    forget = proposal("Forget: what I drink", named, change=FactChange.FORGETS, doubts=(FORGETS,))
    doubtful = DoubtfulFacts.of([forget], [*OTHERS, named])
    assert doubtful.memories == (named, *OTHERS[: ranking.NEAREST])


def test_a_fact_without_a_decision_is_given_what_is_nearest() -> None:
    """A model that did not say what the fact means for the memories is asked about the nearest ones."""
    doubtful = DoubtfulFacts.of([proposal("I like tea", doubts=(UNDECIDED,))], OTHERS)
    assert doubtful.memories == tuple(OTHERS[: ranking.NEAREST])


@pytest.mark.parametrize("doubt", [CLOSE, SEVERAL])
def test_another_doubtful_fact_is_given_no_more_than_it_concerns(doubt: str) -> None:
    """A fact whose memories are known is asked about with these and the close ones alone, each once."""
    named, close = memory("a", "I drink water"), memory("b", "I like green tea")
    about = proposal("I like tea", named, change=FactChange.CHANGES, doubts=(doubt,))
    assert DoubtfulFacts.of([about], [*OTHERS, close, named]).memories == (named, close)


def test_only_doubtful_facts_are_asked_about() -> None:
    """Facts and memories are numbered from 1, and decisions go back to the proposals that they are about."""
    tea, water = memory("a", "I like green tea"), memory("b", "I drink water")
    some = [
        proposal("I keep wasps"),
        proposal("I like tea", tea, change=FactChange.REPEATS, doubts=(CLOSE,)),
        proposal("I drink cold water", water, change=FactChange.CHANGES, doubts=(SEVERAL,)),
    ]
    doubtful = DoubtfulFacts.of(some, [tea, water])
    request = doubtful.request(some, [["tea!"], ["cold!"]], {"b": ("I drink milk",)}, BankConfig())
    assert [(one.number, one.fact, one.memories, one.turns) for one in request.facts] == [
        (1, "I like tea", (1,), ("tea!",)),
        (2, "I drink cold water", (2,), ("cold!",)),
    ]
    assert [(one.number, one.fact, one.earlier) for one in request.memories] == [
        (1, tea.fact, ()),
        (2, water.fact, ("I drink milk",)),
    ]
    answers = [Decision(number, Action.NONE) for number in (2, 1, 2, 0, 3)]
    second = doubtful.answer(Consolidation(tuple(answers)), [["tea!"], ["cold!"]])
    assert second.decisions == {1: [answers[1]], 2: [answers[0], answers[2]]}
