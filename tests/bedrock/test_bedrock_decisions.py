"""What the consolidator reads in an answer: decisions about what was offered, and nothing else."""

import pytest

from streambank.llm.ports import Action
from tests.bedrock.converse_server import tool
from tests.bedrock.requests import DECIDED, DOUBTFUL


def test_decisions_come_by_number(server, consolidator):
    """Actions, memories and texts are as the model said; a fact may have several decisions, in their order."""
    more = [
        {"fact": "#2", "action": "merge", "memories": [2, 1], "text": "I ski in Linz"},
        {"fact": 1.0, "action": "noop", "same_as": "2"},
        {"fact": 2, "action": "delete", "memory": 2},
    ]
    server.script = [tool("consolidate", {"decisions": [*DECIDED["decisions"], *more]})]
    decisions = consolidator.consolidate(DOUBTFUL).decisions
    assert [(one.fact, one.action, one.memories, one.text, one.same_as) for one in decisions] == [
        (1, Action.CREATE, (), "I keep bees", None),
        (2, Action.UPDATE, (1,), "I live in Linz", None),
        (2, Action.UPDATE, (2, 1), "I ski in Linz", None),
        (1, Action.NONE, (), None, 2),
        (2, Action.DELETE, (2,), None, None),
    ]
    assert decisions[1].reason == "moved"


HOSTILE = {
    "a memory that was not offered": {"fact": 1, "action": "DELETE", "memory": 7},
    "a fact that was not offered": {"fact": 9, "action": "CREATE"},
    "an action that there is not": {"fact": 1, "action": "DROP TABLE"},
    "no action": {"fact": 1},
    "an update of nothing": {"fact": 1, "action": "UPDATE", "text": "x"},
    "an id for a number": {"fact": 1, "action": "DELETE", "memory": "m123abc"},
    "no object": "CREATE",
    "an example": {"fact": 1, "action": "CREATE", "text": "I live in CITY-2 with PERSON-B"},
}


@pytest.mark.parametrize("decision", HOSTILE.values(), ids=HOSTILE)
def test_a_model_can_only_act_on_what_it_was_given(server, consolidator, decision):
    """Anything else is no decision; the decisions beside it stand, and nobody is asked again."""
    server.script = [tool("consolidate", {"decisions": [decision, {"fact": 2, "action": "CREATE"}]})]
    assert [(one.fact, one.action) for one in consolidator.consolidate(DOUBTFUL).decisions] == [(2, Action.CREATE)]
    assert len(server.asked) == 1


@pytest.mark.parametrize("same_as", [1, 3, 0, None, "x"])
def test_a_fact_is_the_same_as_another_offered_fact(server, consolidator, same_as):
    """A fact that does not exist, or the fact itself, is no other fact; the decision stays."""
    server.script = [tool("consolidate", {"decisions": [{"fact": 1, "action": "NONE", "same_as": same_as}]})]
    assert [one.same_as for one in consolidator.consolidate(DOUBTFUL).decisions] == [None]


def test_a_fact_may_have_no_decision(server, consolidator):
    """M6: what the model leaves out is left to the pipeline, and nobody is asked again."""
    server.script = [tool("consolidate", {"decisions": DECIDED["decisions"][:1]})]
    assert [one.fact for one in consolidator.consolidate(DOUBTFUL).decisions] == [1]
    assert len(server.asked) == 1
