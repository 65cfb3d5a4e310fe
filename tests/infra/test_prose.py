"""The rules for prose find what they are for, and all pages keep them."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from infra.prose import rules
from infra.prose.__main__ import ROOT, problems
from infra.prose.page import Page


def lines(rule: rules.Rule, text: str, folder: Path, name: str = "docs/page.md") -> list[int]:
    """Return the numbers of the lines of which *rule* complains."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return [line for line, _ in rule(Page(path, text))]


def test_all_pages_keep_the_rules() -> None:
    """No page of the documents breaks a rule."""
    assert problems() == []


@pytest.mark.parametrize(
    ("words", "expected"), [(rules.MOST_WORDS, []), (rules.MOST_WORDS + 1, [3])], ids=["longest", "too long"]
)
def test_a_long_sentence_is_reported_by_its_paragraph(tmp_path: Path, words: int, expected: list[int]) -> None:
    """Forty words are allowed, also over several lines; one more is reported."""
    sentence = " ".join(["word"] * words)
    text = f"# A title\n\n{sentence[:60]}\n{sentence[60:].strip()}. Another sentence.\n"
    assert lines(rules.short_sentences, text.replace("wor\n", "word\n"), tmp_path) == expected


@pytest.mark.parametrize(
    "text", ["| {} |\n", "    {}\n", "```text\n{}\n```\n"], ids=["table", "indented code", "fenced code"]
)
def test_tables_and_code_have_sentences_of_any_length(tmp_path: Path, text: str) -> None:
    """What is no prose is not counted."""
    assert lines(rules.short_sentences, text.format("word " * 50), tmp_path) == []


def test_an_item_of_a_list_ends_a_sentence(tmp_path: Path) -> None:
    """Items of a list are sentences of their own, also where an item goes on in a line of its own."""
    item = "- " + "word " * 15 + "\n  " + "word " * 15 + "\n"
    assert lines(rules.short_sentences, item * 3, tmp_path) == []


def test_banned_words_are_reported_outside_of_code_and_quotes(tmp_path: Path) -> None:
    """A banned word is reported, but not what a user says, and no code."""
    text = 'It is simply there.\n\nShe says "I just ate." and calls `just()`.\n\nOf course.\n'
    assert lines(rules.plain_words, text, tmp_path) == [1, 5]


def test_dead_links_are_reported(tmp_path: Path) -> None:
    """A relative link needs a file, and an anchor a heading; links to the web are not followed."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "other.md").write_text("# A `word` and more\n")
    live = "[a](other.md) [b](other.md#a-word-and-more) [c](https://example.invalid/x) [d](#here)\n\n# Here\n"
    assert lines(rules.live_links, live, tmp_path) == []
    assert lines(rules.live_links, "[a](missing.md)\n[b](other.md#missing)\n[c](#missing)\n", tmp_path) == [1, 2, 3]


def test_a_page_has_one_name_in_a_page(tmp_path: Path) -> None:
    """The second name of a page is reported; capitals, the article and the ending of a file do not count."""
    assert lines(rules.one_name, "[Models](m.md)\n[the models](m.md)\n[models.md](m.md)\n[m](m.md)\n", tmp_path) == [4]


def test_a_colon_announces_something(tmp_path: Path) -> None:
    """A colon at the end of a paragraph is followed by a list, a table or code."""
    assert lines(rules.colons, "One:\n\n- a\n\nTwo:\n\n    code\n\nThree:\nfour.\n", tmp_path) == []
    assert lines(rules.colons, "One:\n\nProse.\n\nTwo:\n", tmp_path) == [1, 5]


def test_words_are_defined_where_beginners_meet_them_first(tmp_path: Path) -> None:
    """README defines a word at its first use; the tutorial may use what README defines."""
    assert lines(rules.defined_words, "A stream.\n\nA **stream** is a buffer.\n", tmp_path, "README.md") == [1]
    assert lines(rules.defined_words, "A **stream** is a buffer.\n\nA stream.\n", tmp_path, "README.md") == []
    assert lines(rules.defined_words, "# A stream\n\nA stream.\n\nA verdict.\n", tmp_path, "docs/tutorial.md") == [5]


def test_the_index_has_each_page_once() -> None:
    """docs/README.md links each page of the documents once; the pages of decisions are in their own index."""
    for index in (ROOT / "docs" / "README.md", ROOT / "docs" / "decisions" / "README.md"):
        pages = {path.name for path in index.parent.glob("*.md")} - {"README.md"}
        linked = Counter(re.findall(r"\]\((\w[\w.-]*\.md)\)", index.read_text()))
        assert dict(linked) == dict.fromkeys(pages, 1)
