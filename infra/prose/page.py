"""A page of Markdown: its prose without code and tables, its links, its headings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

_FENCE = re.compile(r"^ *```")
_LINK = re.compile(r"(?<!!)\[(?P<text>[^\]\n]+)\]\((?P<target>[^)\s]+)\)")
_HEADING = re.compile(r"^#+ +(.*)$")
_BLOCK_START = re.compile(r"^\s*(?:[-*] |\d+\. |#|\||>|<!--)")


@dataclass(frozen=True)
class Link:
    """A link of a page, with the number of its line."""

    line: int
    text: str
    target: str

    @property
    def is_relative(self) -> bool:
        return not re.match(r"[a-z]+:", self.target)


@dataclass(frozen=True)
class Paragraph:
    """Consecutive lines of prose, joined, with the number of the first."""

    line: int
    text: str


@dataclass(frozen=True)
class Page:
    """A page by its path and text."""

    path: Path
    text: str

    @cached_property
    def lines(self) -> list[str]:
        """Return the lines; those of code are empty. Line n of the page is number n - 1."""
        lines, is_code, was_blank = [], False, True
        for line in self.text.splitlines():
            is_fence = bool(_FENCE.match(line))
            is_code = is_code != is_fence
            # An indented block begins after a blank line, or goes on; an indented line of a list goes on with its item.
            is_indented = line.startswith("    ") and was_blank
            was_blank = is_indented or not line.strip()
            lines.append("" if is_code or is_fence or is_indented else line)
        return lines

    @cached_property
    def links(self) -> list[Link]:
        return [
            Link(number, match["text"].strip("`"), match["target"])
            for number, line in enumerate(self.lines, 1)
            for match in _LINK.finditer(line)
        ]

    @cached_property
    def anchors(self) -> set[str]:
        """Return the anchors of the headings, as GitHub makes them."""
        headings = [match[1] for line in self.lines if (match := _HEADING.match(line))]
        return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}

    def paragraphs(self) -> Iterator[Paragraph]:
        """Yield the prose: paragraphs and items of lists, without headings, tables, code and links' targets."""
        first, parts = 0, list[str]()
        for number, line in enumerate([*self.lines, ""], 1):
            if parts and (not line.strip() or _BLOCK_START.match(line)):
                yield Paragraph(first, plain(" ".join(parts)))
                parts = []
            if line.strip() and not re.match(r"\s*(?:#|\||<!--)", line):
                first = first if parts else number
                parts.append(re.sub(r"^\s*(?:[-*]|\d+\.) ", "", line.strip()) if not parts else line.strip())


def plain(text: str) -> str:
    """Return prose without code, links' targets and emphasis; a piece of code counts as one word."""
    return re.sub(r"[*_]{1,2}(\S[^*]*?)[*_]{1,2}", r"\1", _LINK.sub(r"\g<text>", re.sub(r"`[^`]+`", "CODE", text)))


def sentences(text: str) -> list[str]:
    """Return the sentences of a paragraph."""
    return re.split(r"(?<=[.?!])[\")]? +(?=[A-Z\"(])", text)
