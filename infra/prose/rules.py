"""The rules: each yields the number of a line and what is wrong there."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

from infra.prose.page import Page, sentences

MOST_WORDS = 40
Problem = tuple[int, str]
Rule = Callable[[Page], Iterator[Problem]]

# Words that say nothing, or that say that something is easy.
BANNED = re.compile(
    r"\b(simply|just|obviously|of course|easily|basically|leverag\w+|utili[sz]e\w*|seamless\w*|in order to|please note"
    r"|robust|powerful|effortless\w*|cutting-edge|state-of-the-art)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r'"[^"\n]*"')
# Words that a newcomer cannot know. A page defines a word where it stands first, in bold or in italics.
WORDS = (
    "bank",
    "scope",
    "stream",
    "window",
    "sealed",
    "coverage",
    "verdict",
    "parked",
    "redrive",
    "basic model",
    "the reference",
)
BEGINNERS = ("README.md", "tutorial.md")


def short_sentences(page: Page) -> Iterator[Problem]:
    """No sentence outside of tables and code has more than 40 words."""
    for paragraph in page.paragraphs():
        for sentence in sentences(paragraph.text):
            if (count := len(re.findall(r"[\w'-]+", sentence))) > MOST_WORDS:
                yield paragraph.line, f"a sentence has {count} words, more than {MOST_WORDS}: {sentence[:60]} ..."


def plain_words(page: Page) -> Iterator[Problem]:
    """No banned word is used, except in code and in quotes."""
    for number, line in enumerate(page.lines, 1):
        for match in BANNED.finditer(_QUOTED.sub("", re.sub(r"`[^`]+`", "", line))):
            yield number, f"the word {match[0]!r} can be left out, or there is a plainer one"


def live_links(page: Page) -> Iterator[Problem]:
    """Every relative link leads to a file, and its anchor to a heading."""
    for link in page.links:
        name, _, anchor = link.target.partition("#")
        target = page.path.parent / name if name else page.path
        if not link.is_relative:
            continue
        if not target.exists():
            yield link.line, f"the link {link.target} leads nowhere"
        elif anchor and target.suffix == ".md" and anchor not in Page(target, target.read_text()).anchors:
            yield link.line, f"the link {link.target}: there is no heading for {anchor}"


def one_name(page: Page) -> Iterator[Problem]:
    """A page links to another page, or to a part of it, under one name."""
    names: dict[str, set[str]] = defaultdict(set)
    for link in page.links:
        if not link.is_relative:
            continue
        names[link.target].add(link.text.lower().removeprefix("the ").removesuffix(".md"))
        if len(names[link.target]) > 1:
            yield link.line, f"{link.target} is linked under several names: {', '.join(sorted(names[link.target]))}"


def colons(page: Page) -> Iterator[Problem]:
    """A line that ends with a colon is followed by a list, a table or code."""
    every, lines = page.text.splitlines(), page.lines
    for number, line in enumerate(lines, 1):
        if not line.rstrip().endswith(":") or line.lstrip().startswith("|"):
            continue
        if every[number : number + 1] and lines[number].strip():
            continue
        following = next((one for one in every[number:] if one.strip()), "")
        if not re.match(r" {4}|\s*(?:```|[-*] |\d+\. |\||>|<!--)", following):
            yield number, "a colon at the end of a line, and nothing that it announces"


def defined_words(page: Page) -> Iterator[Problem]:
    """On the pages for beginners a word of this project is defined where it first appears, or on the first page."""
    if page.path.name not in BEGINNERS or page.path.parent.name == "decisions":
        return
    known = set() if page.path.parent.name != "docs" else _defined(page.path.parent.parent / "README.md")
    if page.path.name == "README.md" and known:
        return
    for word in WORDS:
        if word not in known and (problem := _undefined(page, word)):
            yield problem


def _undefined(page: Page, word: str) -> Problem | None:
    """Return the first use of *word* if it is not its definition."""
    for number, line in enumerate(page.lines, 1):
        prose = re.sub(r"`[^`]+`|\]\([^)]*\)|Memory Bank", "", line)
        if re.search(rf"\b{word}s?\b", prose, re.IGNORECASE) and "# " not in prose[:4]:
            is_definition = re.search(rf"\*{word}\*", prose, re.IGNORECASE)
            return None if is_definition else (number, f"{word!r} is used before it is defined")
    return None


def _defined(path: Path) -> set[str]:
    """Return the words that the page at *path* defines."""
    text = path.read_text()
    return {word for word in WORDS if re.search(rf"\*{word}\*", text, re.IGNORECASE)}


RULES: tuple[Rule, ...] = (short_sentences, plain_words, live_links, one_name, colons, defined_words)
