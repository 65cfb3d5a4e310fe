"""The pictures as files are those of the page."""

from __future__ import annotations

import re

import pytest

from infra.pictures.drawing import svg
from infra.pictures.pictures import PICTURES
from tests.docs.conftest import ROOT

PAGE = (ROOT / "docs" / "pictures.md").read_text()
FOLDER = ROOT / "docs" / "pictures"


def mermaid(name: str) -> str:
    """Return the diagram that stands before the link to the file *name*."""
    section = PAGE.partition(f"(pictures/{name}.svg)")[0]
    return section.rpartition("```mermaid")[2].partition("```")[0]


@pytest.mark.parametrize("name", PICTURES)
def test_the_file_is_drawn_from_the_declaration(name: str) -> None:
    """`python -m infra.pictures` would write the file as it is."""
    assert (FOLDER / f"{name}.svg").read_text() == svg(PICTURES[name])


@pytest.mark.parametrize("name", PICTURES)
def test_the_file_has_the_texts_of_the_page(name: str) -> None:
    """The diagram in the page and the file have the same boxes, arrows' labels and groups."""
    texts = {text.replace("<br>", "|") for text in re.findall(r'"([^"]+)"', mermaid(name))}
    assert texts == PICTURES[name].texts()


@pytest.mark.parametrize("name", PICTURES)
def test_the_file_has_the_arrows_of_the_page(name: str) -> None:
    """The diagram in the page has as many arrows as the file."""
    assert mermaid(name).count("-->") == len(PICTURES[name].arrows)


def test_every_file_is_a_picture() -> None:
    """No file is left of a picture that is not in the page."""
    assert {path.stem for path in FOLDER.iterdir()} == set(PICTURES)
