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


def colours(style: str) -> dict[str, str]:
    """Return the fill of each selector of a style sheet that has one."""
    return dict(re.findall(r"([.\w-]+) \{[^}]*fill: (#\w{6})", style))


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour, as WCAG 2 defines it."""
    shares = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in shares]
    return sum(weight * one for weight, one in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("name", PICTURES)
@pytest.mark.parametrize("is_dark", [False, True], ids=["light", "dark"])
def test_the_file_can_be_read_in_both_colour_schemes(name: str, is_dark: bool) -> None:
    """The file brings its own page; texts and arrows have a contrast of 4.5 or more to what is behind them."""
    drawn = (FOLDER / f"{name}.svg").read_text()
    light, _, dark = drawn.partition("@media (prefers-color-scheme: dark)")
    shown = {**colours(light), **(colours(dark) if is_dark else {})}
    assert drawn.index('<rect class="page"') < drawn.index("<text")
    assert (luminance(shown[".page"]) < 0.1) is is_dark
    pairs = [("text", ".page"), ("text", "rect"), (".label", ".page"), (".head", ".page")]
    assert min(contrast(shown[one], shown[other]) for one, other in pairs) >= 4.5


def test_every_file_is_a_picture() -> None:
    """No file is left of a picture that is not in its page."""
    assert {path.stem for path in FOLDER.glob("*.*")} == set(PICTURES)
    page = (ROOT / "docs" / "console.md").read_text()
    assert {path.name for path in (FOLDER / "console").iterdir()} == set(re.findall(r"pictures/console/([^)]+)", page))
