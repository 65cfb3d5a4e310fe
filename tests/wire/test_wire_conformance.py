import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
DOCS = TESTS.parent / "docs"
ROW = re.compile(r"\| (?P<section>\d+) \| (?P<rule>[^|]+) \| (?P<stated>[^|]+) \|")
TEST = re.compile(r"`([a-z_/]+\.py)::(test_\w+)`")
DIFFERENCE = re.compile(r"difference: (.+)$")
NOT_MET = re.compile(r"not met: .+$")


def rows():
    """Return section, rule and what states it of every row."""
    lines = (DOCS / "conformance.md").read_text().splitlines()
    return [ROW.fullmatch(line).groups() for line in lines if line.startswith("| ") and not line.startswith("| §")]


def declared(file):
    return {node.name for node in ast.walk(ast.parse((TESTS / file).read_text())) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize(("section", "rule", "stated"), rows(), ids=[f"{one[0]}-{one[1][:60]}" for one in rows()])
def test_each_rule_is_stated_by_what_exists(section, rule, stated):
    """Every row names tests that exist, or a row of the differences, or says that the rule is not met; nothing else."""
    tests, difference = TEST.findall(stated), DIFFERENCE.search(stated)
    for file, name in tests:
        assert name in declared(file), f"{file} has no {name}"
    if difference:
        assert f"| {difference[1]} |" in (DOCS / "differences.md").read_text()
    rest = NOT_MET.sub("", DIFFERENCE.sub("", TEST.sub("", stated)))
    assert tests or difference or NOT_MET.fullmatch(stated)
    assert re.sub(r"[,; ]+", "", rest) == ""


def test_every_section_has_rules_and_no_rule_two_rows():
    """Sections 4 to 9 and 12 are gone through, and each rule stands once."""
    assert {int(section) for section, _, _ in rows()} == {4, 5, 6, 7, 8, 9, 12}
    assert len({(section, rule) for section, rule, _ in rows()}) == len(rows()) > 90
