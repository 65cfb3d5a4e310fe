"""The words that texts share with a query, weighted by BM25 over stems."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias

# BM25's parameters: saturation of repeated words, and the penalty for long texts. Lucene's usual values for short
# texts, and as good as any on LoCoMo (docs/decisions/0013).
K1, B = 0.9, 0.4
WordCounts: TypeAlias = Mapping[str, float]

# Vowel signs and other marks belong to words, but `\w` does not match them.
_MARKS = (
    "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0900-\u0963"
)
_INDIC = "\u0980-\u0dff\u0f00-\u0fff"
# Scripts without spaces between words: Thai, Lao, Burmese, Khmer, kana, Chinese characters.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_WORD = re.compile(rf"[{_UNSPACED}]+|(?:(?![{_UNSPACED}])[^\W_]|[{_MARKS}{_INDIC}])+")
_ENGLISH_WORD = re.compile(r"[a-z0-9]+")
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_STOP = frozenset(
    """a about above after again against ain all am an and any are aren as at be because been before being below
    between both but by can could couldn d did didn do does doesn doing don down during each few for from further had
    hadn has hasn have haven having he her here hers herself him himself his how i if in into is isn it its itself just
    ll m me more most my myself no nor not now of off on once only or other our ours ourselves out over own re s same
    she should shouldn so some such t than that the their theirs them themselves then there these they this those
    through to too under until up us ve very was wasn we were weren what when where which while who whom whose why will
    with won would wouldn you your yours yourself yourselves""".split()  # noqa: SIM905  one screen, not one word a line
)


def count_words(text: str) -> WordCounts:
    """Return the words of *text* with their counts, without stop words.

    Text in a script without spaces is cut into pairs of characters.
    """
    if text.isascii():
        counts = Counter(_ENGLISH_WORD.findall(text.lower()))
    else:
        runs = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
        counts = Counter(word for run in runs for word in _split(run))
    for word in counts.keys() & _STOP:
        del counts[word]
    return counts


def _split(run: str) -> Sequence[str]:
    if len(run) < 3 or not _IS_UNSPACED.match(run):
        return (run,)
    return [run[start : start + 2] for start in range(len(run) - 1)]


def add_weighted(own: WordCounts, *others: tuple[float, WordCounts]) -> WordCounts:
    """Return the word counts of a text plus those of *others*, each multiplied by its weight."""
    total = dict(own)
    for weight, other in others:
        for word, count in other.items():
            total[word] = total.get(word, 0.0) + weight * count
    return total


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Return the stem of an English word; a word of another script is its own stem."""
    if not (word.isascii() and word.isalpha()):
        return word
    # Imported here: it takes 25 ms, and only searches need it. Each call has its own stemmer, because it has state.
    from snowballstemmer.english_stemmer import EnglishStemmer  # noqa: PLC0415

    return str(EnglishStemmer().stemWord(word))


def shares(query: str, texts: Sequence[WordCounts], unread: int = 0) -> list[float] | None:
    """Return the share of *query*'s weight that each of *texts* has, from 0 to 1; None if no text has a word of it.

    The share is the BM25 score divided by its upper bound: every stem of the query, repeated without end. Rare stems
    weigh more, and a stem that no text has weighs most, so a query about something else gets low shares. *unread* more
    texts count as texts without a word of the query.
    """
    stems = {stem(word) for word in count_words(query)}
    occurrences = _occurrences(stems, texts)
    if not any(occurrences):
        return None
    weights = {one: _weight(sum(one in counts for counts in occurrences), len(texts) + unread) for one in stems}
    lengths = [sum(text.values()) for text in texts]
    average, upper_bound = sum(lengths) / len(lengths), sum(weights.values()) * (K1 + 1)
    return [
        sum(weights[one] * saturated(count, length / average) for one, count in counts.items()) / upper_bound
        for counts, length in zip(occurrences, lengths, strict=True)
    ]


def _occurrences(stems: set[str], texts: Sequence[WordCounts]) -> list[dict[str, float]]:
    """Return the counts of *stems* in each text; only words with the first letter of a stem are stemmed."""
    first_letters = {one[0] for one in stems}
    counts: list[dict[str, float]] = []
    for text in texts:
        by_stem: dict[str, float] = {}
        for word, count in text.items():
            if word[0] in first_letters and stem(word) in stems:
                by_stem[stem(word)] = by_stem.get(stem(word), 0.0) + count
        counts.append(by_stem)
    return counts


def _weight(matches: int, texts: int) -> float:
    return math.log(1 + (texts - matches + 0.5) / (matches + 0.5))


def saturated(count: float, relative_length: float) -> float:
    """Return what *count* occurrences weigh in a text that is *relative_length* times as long as the average one."""
    return count * (K1 + 1) / (count + K1 * (1 - B + B * relative_length))
