"""CONTRIBUTING's picture of the house is the house."""

import re

from tests.docs.conftest import ROOT

PAGE = (ROOT / "CONTRIBUTING.md").read_text()


def house() -> str:
    return PAGE.partition("## The house")[2].partition("## ")[0]


def drawn(indent: int) -> set[str]:
    """Return the names that are drawn at a depth of the tree."""
    return set(re.findall(rf"^ {{{indent}}}([\w.]+/?)(?: |$)", house(), re.MULTILINE))


def test_top_level_folders_are_drawn() -> None:
    """Every folder with code or documents at the top is in the picture, and no other."""
    hidden = {"events", "requirements"}  # recorded events and pins: they explain themselves
    folders = {f"{path.name}/" for path in ROOT.iterdir() if path.is_dir() and any(path.glob("**/*.py"))}
    folders = {
        name for name in folders if not name.startswith(".") and name.rstrip("/") not in hidden | {"build", "dist"}
    }
    assert folders <= drawn(4)
    assert all((ROOT / name).exists() for name in drawn(4))


def test_the_package_is_drawn() -> None:
    """Every package and module of the layer's package is named in the picture."""
    inside = {f"{path.name}/" for path in (ROOT / "shared" / "streambank").iterdir() if (path / "__init__.py").exists()}
    assert inside == {name for name in drawn(8) if name.endswith("/")}
    modules = {path.name for path in (ROOT / "shared" / "streambank").glob("*.py")} - {"__init__.py"}
    assert all(name in house() for name in modules)


def test_the_walk_of_an_event_is_ten_files() -> None:
    """Each file on the way from an event to its memory exists, and there are ten at most."""
    files = re.findall(r'"((?:functions|api|wire|pipeline|store|infra)/[\w./]+)<br>', PAGE)
    assert len(files) == 10
    for name in files:
        assert (ROOT / name).exists() or (ROOT / "shared" / "streambank" / name).exists(), name
