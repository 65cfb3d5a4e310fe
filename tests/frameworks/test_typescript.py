"""The types of docs/openapi.json for TypeScript: tsc checks the example of docs/typescript.md, and Node runs it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from streambank_local.service import LocalService
from tests.frameworks.programs import ROOT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (shutil.which("npm") and shutil.which("node")), reason="no npm and no Node"),
]
SOURCES = ROOT / "docs" / "examples" / "typescript"
BODIES = Path(__file__).parent / "typescript"


def run(folder: Path, *command: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=600, check=False, env={**os.environ, **more}
    )


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a copy of the example with its packages and the generated types."""
    folder = tmp_path_factory.mktemp("typescript")
    shutil.copytree(SOURCES, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("node_modules", "build"))
    installed = run(folder, "npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error")
    if installed.returncode != 0:
        pytest.skip("the packages of TypeScript cannot be installed: no registry can be reached")
    shutil.copy(ROOT / "docs" / "openapi.json", folder / "openapi.json")
    package = json.loads((folder / "package.json").read_text())
    command = package["scripts"]["types"].replace("../../openapi.json", "openapi.json")
    made = run(folder, "npm", "exec", "--", *command.split())
    assert made.returncode == 0, made.stderr
    yield folder
    shutil.rmtree(folder / "node_modules")


def check(project: Path, name: str) -> list[str]:
    """Return the errors of one more file of the project."""
    shutil.copy(BODIES / name, project)
    checked = run(project, "npm", "exec", "--", "tsc", "--noEmit", "--pretty", "false")
    (project / name).unlink()
    return [line for line in checked.stdout.splitlines() if line.startswith(name)]


def test_the_example_runs(project: Path, service: LocalService) -> None:
    """The example is well typed, and the service answers as the types say."""
    built = run(project, "npm", "run", "--silent", "build")
    assert (built.returncode, built.stdout) == (0, "")
    ran = run(project, "node", "build/example.js", STREAMBANK_URL=service.base_url)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.splitlines() == ["accepted: 2", "found: I live in Graz."]


def test_the_page_shows_the_example() -> None:
    """The block of the page is in the example, and the page has the command that makes the types."""
    page = (ROOT / "docs" / "typescript.md").read_text()
    [shown] = re.findall(r"<!-- from example.ts -->\n\n```typescript\n(.*?)```", page, re.DOTALL)
    assert shown in (SOURCES / "example.ts").read_text()
    assert (
        json.loads((SOURCES / "package.json").read_text())["scripts"]["types"].removesuffix(" streambank.d.ts") in page
    )


def test_fields_with_defaults_are_optional(project: Path) -> None:
    """A body needs what the service needs, and no more."""
    assert check(project, "right.ts") == []


def test_wrong_bodies_are_errors(project: Path) -> None:
    """A body without a required field, with an unknown one, or with a wrong value is an error on its line."""
    lines = {int(error.removeprefix("wrong.ts(").partition(",")[0]) for error in check(project, "wrong.ts")}
    bodies = (BODIES / "wrong.ts").read_text().splitlines()
    assert lines == {number for number, line in enumerate(bodies, 1) if line.startswith("const ")}
