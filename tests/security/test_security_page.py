"""docs/threats.md speaks of tests that are there."""

import re

import pytest

from tests.aws import ROOT

PAGE = (ROOT / "docs" / "threats.md").read_text("utf-8")
ROWS = [line for line in PAGE.splitlines() if line.startswith("| ") and "proved by" not in line]
NAMED = sorted(set(re.findall(r"`((?:[a-z0-9]+_)+[a-z0-9]+(?:::[a-z0-9_]+)?)`", "\n".join(ROWS))))


@pytest.mark.parametrize("name", NAMED)
def test_a_test_that_is_named_exists(name):
    """Each is one function of one file."""
    file, _, function = name.partition("::")
    [path] = ROOT.glob(f"tests/**/test_{file}.py")
    assert f"def test_{function}(" in path.read_text("utf-8") or not function


@pytest.mark.parametrize("row", ROWS)
def test_each_threat_is_answered_and_proved(row):
    """No row lacks its answer or its test."""
    _, threat, answer, proof, _ = row.split("|")
    assert threat.strip()
    assert answer.strip()
    assert [name for name in NAMED if f"`{name}`" in proof]


def test_the_page_is_read_whole():
    """The table has rows, and what is written like a test is taken for one."""
    assert len(ROWS) >= 20
    assert len(NAMED) >= 40
