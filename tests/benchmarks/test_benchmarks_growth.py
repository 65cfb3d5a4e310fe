"""How costs grow: the lines are fitted right, and docs/growth.md agrees with the counts."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from benchmarks.growth import Line, fit, main, measure
from benchmarks.growth_cases import CASES, Case

pytestmark = pytest.mark.slow  # recounts

DOC = Path(__file__).resolve().parents[2] / "docs" / "growth.md"
_CEIL = r"ceil\((?:n|\((?:(?P<of>\d+) )?n \+ (?P<more>\d+)\)) / (?P<together>\d+)\)"
_TERM = re.compile(rf"(?:(?P<each>\d+) )?(?:n|{_CEIL})|(?P<fixed>\d+)")


def _calls(formula: str, count: int) -> int:
    """Return what a formula of the document comes to."""
    total = 0
    for term in _TERM.finditer(formula):
        if term["fixed"]:
            total += int(term["fixed"])
        else:
            of = int(term["of"] or 1) * count + int(term["more"] or 0)
            total += int(term["each"] or 1) * (math.ceil(of / int(term["together"])) if term["together"] else count)
    return total


def _documented() -> dict[tuple[str, str], str]:
    """Return the formula of calls for each case: by what it grows with, and by its name."""
    found, grows = {}, ""
    for line in DOC.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| **"):
            grows = cells[0].strip("*").removeprefix("n ")
        elif line.startswith("| ") and grows and len(cells) > 4:
            found[grows, cells[0]] = cells[1]
    return found


def _check(case: Case, count: int) -> None:
    assert measure(case, count).calls == _calls(_documented()[case.grows_with, case.name], count)


def test_a_constant_and_a_line_are_distinguished() -> None:
    """What does not grow has no slope, linear growth has no error, any other is marked as approximate."""
    assert str(fit([(1, 8), (10, 8), (100, 8)])) == "8"
    assert str(fit([(1, 11), (10, 29), (100, 209)])) == "9 + 2 n"
    assert str(fit([(1, 3), (10, 30)])) == "3 n"
    assert fit([(1, 10), (10, 28)]).at(1_000_000) == pytest.approx(2_000_008)
    assert str(fit([(1, 1), (10, 50), (100, 60)])).startswith("~ ")
    assert str(Line(8, 0.0001)) == "8"


def test_every_case_is_documented() -> None:
    """The document's table has the cases that are counted, and no others."""
    assert set(_documented()) == {(case.grows_with, case.name) for case in CASES}


@pytest.mark.parametrize("name", ["ingest of 10 events", "sweep, n windows to seal", "sweep, n windows to start"])
def test_formulas_of_the_document_are_right(name: str) -> None:
    """A call does not grow with a bank's streams, a sweep by a few AWS calls for each window that is due."""
    [case] = [case for case in CASES if case.name == name and case.grows_with.startswith("streams")]
    _check(case, 7)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.name} by {case.grows_with.split()[0]}")
@pytest.mark.parametrize("count", [1, 40])
def test_all_formulas_of_the_document_are_right(case: Case, count: int) -> None:
    """Each formula of the document comes to the AWS calls that are counted."""
    _check(case, count)


def test_the_report_has_a_line_a_case(capsys: pytest.CaptureFixture[str]) -> None:
    """The report has the counted calls, and formulas for calls and units."""
    assert main(["--most", "10", "--only", "to start"]) == 0
    title, grows, line = capsys.readouterr().out.splitlines()
    assert title.startswith("AWS calls")
    assert grows == f"n {CASES[0].grows_with}"
    assert re.split(r"\s{2,}", line.strip()) == ["sweep, n windows to start", "12", "39", "9 + 3 n", "3 n", "4.5 + 1 n"]
