"""The operator's table of outcomes names those of the code, and the standing costs count the template's alarms."""

import re

import pytest

from streambank.errors import GenerationError
from streambank.pipeline.generation.fail import EXECUTION_DIED, NO_FAILURES
from tests.aws import ROOT, template


def outcomes(kind: type[GenerationError] = GenerationError) -> set[str]:
    """Return the outcomes of a kind of error and of all kinds below it."""
    return {kind.outcome}.union(*(outcomes(one) for one in kind.__subclasses__()))


# Step Functions' own names for a function that ended without a reply (its developer guide, "Handling errors").
STEP_FUNCTIONS = {"Lambda.Unknown", "Sandbox.Timedout"}
MACHINE = set(re.findall(r'"Result": \{"outcome": "(\w+)"', (ROOT / "infra" / "generation.asl.json").read_text()))
OUTCOMES = outcomes() | set(NO_FAILURES) | {EXECUTION_DIED} | STEP_FUNCTIONS | MACHINE


def table() -> set[str]:
    text = (ROOT / "docs" / "operating.md").read_text()
    section = text.split("## Outcomes of a generation")[1].split("\n## ")[0]
    first = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    return {name for cell in first for name in re.findall(r"`([^`]+)`", cell)}


@pytest.mark.parametrize("outcome", sorted(OUTCOMES))
def test_every_outcome_has_a_row(outcome: str) -> None:
    """Whatever an operation may name as its failure is explained."""
    assert outcome in table()


def test_every_row_is_an_outcome() -> None:
    """No row explains what does not exist."""
    assert table() <= OUTCOMES


def test_the_standing_costs_count_the_alarms_of_the_template() -> None:
    """The numbers of alarms and of their metrics are the template's."""
    alarms = [one["Properties"] for one in template()["Resources"].values() if one["Type"] == "AWS::CloudWatch::Alarm"]
    metrics = sum(len([one for one in alarm.get("Metrics", []) if "MetricStat" in one]) or 1 for alarm in alarms)
    assert f"{metrics} metrics in {len(alarms)} alarms" in (ROOT / "docs" / "costs.md").read_text()
