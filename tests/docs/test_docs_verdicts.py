"""docs/models.md explains each reason that a verdict may have."""

from __future__ import annotations

import ast
import inspect
import re
from types import ModuleType

import pytest

from streambank.llm.dialogue import answers
from streambank.model import verdict
from streambank.rules import consolidation, forgetting, grounding, held_steps, profiles, reviews, second_answer
from streambank_local.basic import consolidator, relevance
from tests.aws import ROOT

# Where reasons are constants. This one is what a revision says, not a verdict.
RULES = (verdict, consolidation, forgetting, grounding, held_steps, profiles, reviews, second_answer)
NO_REASONS = {consolidation.MERGED_INTO}


def constants(module: ModuleType) -> set[str]:
    """Return the texts that are public constants of *module* itself, not imported from another one."""
    own = [node for node in ast.parse(inspect.getsource(module)).body if isinstance(node, ast.Assign)]
    names = [target.id for node in own for target in node.targets if isinstance(target, ast.Name)]
    values = [getattr(module, name) for name in names if not name.startswith("_")]
    return {value for value in values if isinstance(value, str)}


def refusals() -> set[str]:
    """Return the reasons for which the reader of answers refuses a row."""
    calls = [node for node in ast.walk(ast.parse(inspect.getsource(answers))) if isinstance(node, ast.Call)]
    named = [call.args[1] for call in calls if isinstance(call.func, ast.Name) and call.func.id == "_refused"]
    return {one.value for one in named if isinstance(one, ast.Constant)}


def explained(section: str) -> set[str]:
    """Return what the first cells of the tables of reasons in *section* of the page name."""
    text = (ROOT / "docs" / "models.md").read_text().partition(f"# {section}\n")[2].partition("\n#")[0]
    rows = text.partition("| reason | meaning |")[2].partition("\n\n")[0].splitlines()
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1] if "|" in row else "")}


REASONS = set().union(*map(constants, RULES)) - NO_REASONS | refusals()
BASIC = constants(relevance) | constants(consolidator)


@pytest.mark.parametrize("reason", sorted(REASONS))
def test_every_reason_has_a_row(reason: str) -> None:
    """Whatever a rule or the reader of answers may give as the reason of a verdict is explained."""
    assert reason in explained("Two answers")


@pytest.mark.parametrize("reason", sorted(BASIC))
def test_every_reason_of_the_basic_model_has_a_row(reason: str) -> None:
    """The basic model's own reasons are explained with it, or with those of all models."""
    assert reason in explained("The basic model") | explained("Two answers")


def test_every_row_is_a_reason() -> None:
    """No row explains what no verdict says."""
    assert explained("Two answers") <= REASONS
    assert explained("The basic model") <= BASIC
