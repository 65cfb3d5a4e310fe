"""One vector for the words and the meaning of a text, whose dot product with a query's is the score of a search.

A text has 1,024 whole numbers from -31 to 31: 768 buckets for the stems of its words, then 256 for its embedding. A
stem counts as in BM25: the more often it occurs the less each further occurrence adds, and less in a long text. Its
bucket and its sign come from a hash, so a vector needs no list of words. A query weighs its parts as
`score_fusion` does. Rare words weigh as much as frequent ones here: who ranks the results weighs them
(docs/decisions/0036).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import blake2b

from streambank.rules import bm25, score_fusion, vectors
from streambank.rules.bm25 import K1, WordCounts

WORD_BUCKETS = 768
MEANING_BUCKETS = 256
DIMENSIONS = WORD_BUCKETS + MEANING_BUCKETS
# DynamoDB stores such a number in two or three bytes: a vector takes less than 4 KB.
LARGEST = 31
# The length from which a text counts as long: about that of LoCoMo's turns and of facts.
AVERAGE_WORDS = 14
_WORD_SCALE = 16
_MEANING_SCALE = 160
_HASH_BYTES = 4
_COUNT_BYTES = 1


def text_vector(words: WordCounts, embedding: bytes, hashed: bytes = b"") -> tuple[int, ...]:
    """Return the vector of a text with *words*, the *hashed* words of what belongs to it, and a packed *embedding*."""
    stems = Counter(_stem_hashes(words)) + Counter(unpack_words(hashed))
    length = sum(stems.values())
    buckets = [0.0] * WORD_BUCKETS
    for one, count in stems.items():
        bucket, sign = _bucket(one, WORD_BUCKETS)
        buckets[bucket] += sign * bm25.saturated(count, length / AVERAGE_WORDS)
    meaning = _folded(vectors.unpack(embedding))
    return (*_whole(buckets, _WORD_SCALE), *_whole(meaning, _MEANING_SCALE))


def query_vector(text: str, embedding: bytes) -> list[float]:
    """Return the vector of a query: its dot product with a text's is the score, but for the weights of rare words."""
    stems = set(_stem_hashes(bm25.count_words(text)))
    weight = score_fusion.WORD_WEIGHT / (max(len(stems), 1) * (K1 + 1) * _WORD_SCALE)
    buckets = [0.0] * WORD_BUCKETS
    for one in stems:
        bucket, sign = _bucket(one, WORD_BUCKETS)
        buckets[bucket] += sign * weight
    share = (1 - score_fusion.WORD_WEIGHT) / _MEANING_SCALE
    return [*buckets, *(share * number for number in _folded(vectors.unpack(embedding)))]


def pack_words(words: WordCounts) -> bytes:
    """Return hashes of the stems of *words* with their counts, up to 255: five bytes a stem."""
    counts = Counter(_stem_hashes(words))
    return b"".join(
        one.to_bytes(_HASH_BYTES, "big") + min(round(count), 255).to_bytes(_COUNT_BYTES, "big")
        for one, count in sorted(counts.items())
    )


def unpack_words(packed: bytes) -> dict[int, int]:
    """Return the counts of hashed stems."""
    size = _HASH_BYTES + _COUNT_BYTES
    runs = (packed[start : start + size] for start in range(0, len(packed), size))
    return {int.from_bytes(run[:_HASH_BYTES], "big"): run[_HASH_BYTES] for run in runs}


def words_in_common(query: str, packed: bytes) -> WordCounts:
    """Return the words of *query* that *packed* has, with its counts, and all its others as one word that none has."""
    counts, words = unpack_words(packed), dict[str, float]()
    rest = sum(counts.values())
    for word in bm25.count_words(query):
        count = counts.pop(_stem_hash(bm25.stem(word)), 0)
        if count:
            words[word] = count
            rest -= count
    return words | ({_NO_WORD: rest} if rest else {})


# Stands for words that are known by their hashes alone; no text has it, since a word has no space.
_NO_WORD = "- -"


def _stem_hashes(words: WordCounts) -> Mapping[int, float]:
    counts: dict[int, float] = {}
    for word, count in words.items():
        one = _stem_hash(bm25.stem(word))
        counts[one] = counts.get(one, 0) + count
    return counts


def _stem_hash(stem: str) -> int:
    return int.from_bytes(blake2b(stem.encode(errors="replace"), digest_size=_HASH_BYTES).digest(), "big")


def _bucket(number: int, buckets: int) -> tuple[int, int]:
    """Return the bucket of a hash and its sign."""
    return (number >> 1) % buckets, 1 if number & 1 else -1


def _folded(numbers: Sequence[int]) -> list[float]:
    """Return the direction of an embedding in 256 numbers: more of them are added up in hashed buckets."""
    if len(numbers) <= MEANING_BUCKETS:
        folded = [float(number) for number in numbers] + [0.0] * (MEANING_BUCKETS - len(numbers))
    else:
        folded = [0.0] * MEANING_BUCKETS
        for index, number in enumerate(numbers):
            bucket, sign = _bucket(_stem_hash(str(index)), MEANING_BUCKETS)
            folded[bucket] += sign * number
    length = math.hypot(*folded)
    return [number / length for number in folded] if length else folded


def _whole(numbers: Sequence[float], scale: int) -> list[int]:
    return [max(-LARGEST, min(LARGEST, round(number * scale))) for number in numbers]
