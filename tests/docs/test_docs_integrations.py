"""The table of docs/integrations.md: a row for each framework, and the versions that the tests run."""

from __future__ import annotations

import json
import re

from tests.docs.conftest import ROOT

PAGE = (ROOT / "docs" / "integrations.md").read_text()
# The environments in which the tests run the frameworks; benchmarks against other services have their own.
PINS = ("dev", "sdk", "frameworks", "kotlin")
# The client that is tested in this environment is the one of the row's page.
ENVIRONMENT = {"mcp": "frameworks"}


def rows() -> dict[str, str]:
    """Return the last cell of each row by the name of its framework."""
    lines = [line.strip("|").split("|") for line in PAGE.splitlines() if line.startswith("| ")][1:]
    assert {len(cells) for cells in lines} == {7}
    names = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", cells[0]).strip() for cells in lines]
    return dict(zip(names, (cells[-1].strip() for cells in lines), strict=True))


def pinned() -> dict[str, str]:
    """Return the versions that the tests install, by package."""
    versions: dict[str, str] = {}
    for name in PINS:
        text = (ROOT / "requirements" / f"{name}.txt").read_text()
        found = re.findall(r"^([\w-]+)(?:\[[\w,-]+\])?==(\S+)", text, re.MULTILINE)
        versions |= {package: version for package, version in found if ENVIRONMENT.get(package, name) == name}
    package = json.loads((ROOT / "docs" / "examples" / "typescript" / "package.json").read_text())
    return versions | package["devDependencies"]


def test_each_framework_has_a_row() -> None:
    """Every framework that has a page is in the table, with a link to that page."""
    names = ["Strands", "ADK", "Koog, Kotlin", "Koog, Python", "OpenAI", "OpenAI Agents SDK", "MCP", "LangChain"]
    assert list(rows()) == [*names, "LangGraph", "pydantic-ai", "TypeScript", "any other"]


def test_versions_are_the_pins() -> None:
    """Each version of the table is the one that the tests install."""
    named = [pair for cell in rows().values() for pair in re.findall(r"(?<![\w-])([a-z][\w-]+) (\d+\.\d+[\d.]*)", cell)]
    versions = pinned()
    assert len(named) == 11
    assert {package: versions.get(package) for package, _ in named} == dict(named)


def test_extras_admit_the_versions() -> None:
    """Each framework of the client's extras has a row with its version."""
    extras = (ROOT / "client" / "pyproject.toml").read_text().partition("[project.optional-dependencies]")[2]
    packages = re.findall(r'^[\w-]+ = \["([\w-]+)>=', extras, re.MULTILINE)
    assert packages
    assert [package for package in packages if not any(f"{package} " in cell for cell in rows().values())] == []
