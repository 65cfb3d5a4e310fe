"""What a function's file may look like: parse, one call, render."""

import ast
import subprocess
import sys

import pytest

from tests.aws import ROOT

FILES = sorted((ROOT / "functions").glob("*.py"))
NAMES = {"ingest", "api", "on_stream", "on_change", "on_schedule", "extract", "consolidate", "commit", "fail", "replay"}


def tree(path):
    return ast.parse(path.read_text())


def imported(path):
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            yield node.module


def test_there_are_nine_functions():
    """Every file is a function of the stack, and no other module hides among them."""
    assert {path.stem for path in FILES} == NAMES


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_function_is_short(path):
    """A function has at most 40 lines."""
    assert len(path.read_text().splitlines()) <= 40


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_function_decides_nothing(path):
    """No branch, no loop and no `try`: expected errors become replies elsewhere."""
    forbidden = (ast.If, ast.IfExp, ast.For, ast.While, ast.Try, ast.Match, ast.With)
    found = [type(node).__name__ for node in ast.walk(tree(path)) if isinstance(node, forbidden)]
    allowed = {"fail": ["IfExp"], "on_stream": ["IfExp"], "on_change": ["IfExp"]}
    assert found == allowed.get(path.stem, [])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_function_knows_no_aws(path):
    """Clients are built by the composition root alone; the environment is read there too."""
    roots = {name.split(".")[0] for name in imported(path)}
    assert not roots & {"boto3", "botocore", "os", "functions"}
    assert "streambank.store" not in {".".join(name.split(".")[:2]) for name in imported(path)}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_function_has_one_door(path):
    """`handler` takes event and context, says in a sentence what it does, and is the only public function."""
    functions = [node for node in tree(path).body if isinstance(node, ast.FunctionDef)]
    public = [node for node in functions if not node.name.startswith("_")]
    assert [node.name for node in public] == ["handler"]
    assert [argument.arg for argument in public[0].args.args] == ["event", "context"]
    assert ast.get_docstring(public[0])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_function_loads_without_collecting_garbage(path):
    """Collections are paused before the service's modules load, and resumed behind the last statement that loads."""
    body = [node for node in tree(path).body if not isinstance(node, ast.FunctionDef)]
    service = [node for node in body if isinstance(node, ast.ImportFrom) and node.module.startswith("streambank")]
    assert "startup" in {alias.name for alias in service[0].names}
    assert ast.unparse(body[-1]) == "startup.finish()"


def test_a_started_function_collects_garbage():
    """The pause ends with the start: what calls leave behind is collected."""
    code = "import gc; import streambank.startup as one; print(gc.isenabled()); one.finish(); print(gc.isenabled())"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["False", "True"]
