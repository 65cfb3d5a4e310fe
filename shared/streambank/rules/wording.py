"""Compares texts by their words, names and numbers: what code can check where only a model knows the meaning."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from streambank.rules import bm25

_WORD = re.compile(r"[^\W_]+")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;…\n\"“„«(])\s*\W*$")
# Dates may be worked out from the time of a turn: weekdays and months by their first letters, days, years.
_DATE = re.compile(
    r"\b(?:\d{4}-\d{2}(?:-\d{2})?|(?:19|20)\d{2}|\d{1,2}:\d{2})\b"
    r"|\b(?:jan|feb|mar|mär|apr|may|mai|jun|jul|aug|sep|oct|okt|oct|nov|dec|dez)[^\W\d_]*",
    re.IGNORECASE,
)
_DATE_WORD = re.compile(
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september|october"
    r"|november|december",
    re.IGNORECASE,
)
# A word is known by its first letters: it may be inflected.
_PREFIX = 4


def normalized(text: str) -> str:
    """Return *text* without differences of case, compatible characters, space and final punctuation."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    words = " ".join(folded.split())
    end = len(words)
    while end and (words[end - 1] == " " or unicodedata.category(words[end - 1]).startswith("P")):
        end -= 1
    return words[:end] or words


def content_words(text: str) -> frozenset[str]:
    """Return the stems of the words of *text* that are no stop words."""
    return frozenset(map(bm25.stem, bm25.count_words(text)))


def share_words(one: str, other: str) -> bool:
    """Tell whether both texts have a content word in common."""
    return bool(content_words(one) & content_words(other))


def is_half_shared(fact: str, other: str) -> bool:
    """Tell whether *other* has half of the content words of *fact*, at least."""
    words = content_words(fact)
    return bool(words) and 2 * len(words & content_words(other)) >= len(words)


def keeps(text: str, earlier: str) -> bool:
    """Tell whether *text* still has the names, numbers and content words of *earlier*."""
    return content_words(earlier) <= content_words(text) and not unsupported(earlier, [text])


def unsupported(text: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return the names and numbers of *text* that none of the *known* texts has, not even by their first four letters.

    A name is a word with a capital letter that does not begin a sentence. Dates may be worked out, so they are not
    looked for.
    """
    words = {word.casefold() for one in known for word in _WORD.findall(one)}
    prefixes = {word[:_PREFIX] for word in words}
    has_date = _DATE.search(text) is not None
    missing = []
    for match in _WORD.finditer(text):
        word = match[0]
        if _is_name(text, match) or (
            any(letter.isdigit() for letter in word) and not _may_be_date(word, has_date=has_date)
        ):
            folded = word.casefold()
            is_known = folded in words or (len(folded) >= _PREFIX and folded[:_PREFIX] in prefixes)
            if not is_known:
                missing.append(word)
    return tuple(dict.fromkeys(missing))


def _is_name(text: str, match: re.Match[str]) -> bool:
    word = match[0]
    if not word[0].isupper() or len(word) < 2 or _DATE_WORD.fullmatch(word):
        return False
    return _SENTENCE_START.search(text, 0, match.start()) is None


def _may_be_date(word: str, *, has_date: bool) -> bool:
    """Tell whether a number may belong to a date of its text."""
    digits = "".join(letter for letter in word if letter.isdigit())
    return has_date and (len(digits) == 4 or int(digits or 0) <= 31)
