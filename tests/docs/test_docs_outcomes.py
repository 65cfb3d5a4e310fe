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
    every = [one for one in template()["Resources"].values() if one["Type"] == "AWS::CloudWatch::Alarm"]
    alarms = [one["Properties"] for one in every if "Condition" not in one]
    assert [one["Condition"] for one in every if "Condition" in one] == ["SendsChanges"] * 2, "two more with a bus"
    metrics = sum(len([one for one in alarm.get("Metrics", []) if "MetricStat" in one]) or 1 for alarm in alarms)
    assert f"{metrics} metrics in {len(alarms)} alarms" in (ROOT / "docs" / "costs.md").read_text()


def test_the_rows_of_the_example_add_up() -> None:
    """The cost of a thousand users is the sum of its rows, and the standing costs are added."""
    section = (ROOT / "docs" / "costs.md").read_text().partition("## A thousand users")[2].partition("\n## ")[0]
    rows = [line.split("|")[-2].strip(" *") for line in section.splitlines() if line.startswith("|")]
    dollars = [float(cell) for cell in rows if re.fullmatch(r"\d+\.\d\d", cell)]
    assert sum(dollars[:-1]) == pytest.approx(dollars[-1])
    assert f"{dollars[-1] + 2.4:.0f} to {dollars[-1] + 8.5:.0f} dollars" in section


@pytest.mark.parametrize(
    ("what", "amount", "price", "dollars"),
    [
        ("Nova Lite, input", 30_000 * 11_925 / 1e6, "0.06", 21.46),
        ("Nova Lite, output", 30_000 * 2 * 200 / 1e6, "0.24", 2.88),
        ("Step Functions", 30_000 * 7 / 1e3, "0.025", 5.25),
        ("Lambda, time", 30_000 * 7 + 600_000 * 0.05, "0.0000133334", 3.20),
        ("DynamoDB, write units", (600_000 * 4.3333 + 30_000 * 42) / 1e6, "0.625", 2.41),
        ("DynamoDB, read units", (300_000 * (15.7 + 12) + 30_000 * 70) / 1e6, "0.125", 1.30),
    ],
)
def test_the_rows_of_the_example_are_amounts_times_prices(what: str, amount: float, price: str, dollars: float) -> None:
    """Each row is its amount times the price that the page names."""
    section = (ROOT / "docs" / "costs.md").read_text()
    assert amount * float(price) == pytest.approx(dollars, abs=0.005)
    assert re.search(rf"\| {what} \|.*\| {dollars:.2f} \|", section.partition("## A thousand users")[2])
    assert re.search(rf"^\| {what} \|.* {re.escape(price)} ", section, re.MULTILINE)
