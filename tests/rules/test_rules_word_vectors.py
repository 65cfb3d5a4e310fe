"""One vector for words and meaning: its size, its numbers, and that its dot product is the score of a search."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank.rules import bm25, score_fusion, vectors
from streambank.rules.word_vectors import DIMENSIONS, LARGEST, pack_words, query_vector, text_vector, words_in_common
from streambank.store.attributes import packed

TEXTS = st.text(max_size=300) | st.lists(st.sampled_from(["bees", "hens", "Linz", "cellos", "蜂蜜", "мёд", "عسل"])).map(
    " ".join
)
MEANINGS = st.lists(st.floats(-1, 1), min_size=1, max_size=1024).map(vectors.pack) | st.just(b"")


def dot(query, text):
    return sum(a * b for a, b in zip(query, text, strict=True))


def stored_bytes(value):
    """The bytes of an attribute value by DynamoDB's rules: one for each element of a list, three for the list."""
    numbers = (one["N"] for one in value["L"])
    return 3 + sum(1 + 1 + -(-len(one.lstrip("-")) // 2) + one.startswith("-") for one in numbers)


@given(TEXTS, MEANINGS, TEXTS)
def test_a_vector_is_small(text, meaning, cited):
    """It has 1,024 whole numbers from -31 to 31, which DynamoDB stores in less than 4 KB."""
    made = text_vector(bm25.count_words(text), meaning, pack_words(bm25.count_words(cited)))
    assert len(made) == DIMENSIONS == 1024
    assert all(isinstance(one, int) and abs(one) <= LARGEST for one in made)
    assert stored_bytes(packed({"v": made})["v"]) < 4096


@given(TEXTS, MEANINGS)
def test_a_vector_depends_on_the_words_alone(text, meaning):
    """The order of words, capitals and repeated calls change nothing."""
    words = bm25.count_words(text)
    shuffled = dict(random.Random(1).sample(sorted(words.items()), len(words)))
    assert text_vector(words, meaning) == text_vector(shuffled, meaning)
    assert len(query_vector(text, meaning)) == DIMENSIONS


def test_golden_values():
    """A vector that is stored must fit the queries of later releases."""
    meaning = vectors.pack(range(-128, 128), "golden")
    made = text_vector(bm25.count_words("The user keeps bees in Linz, and bees in Graz"), meaning)
    assert {at: one for at, one in enumerate(made[:768]) if one} == GOLDEN
    assert (made[768], made[896], made[1023]) == (-18, 3, 18)


GOLDEN = {374: 18, 500: -18, 638: 23, 653: 18, 745: -18}


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("honey bees", "bees make honey"),
        ("蜂蜜", "我喜欢蜂蜜"),
        ("пчёлы и мёд", "мёд делают пчёлы"),
        ("عسل النحل", "النحل يصنع عسل"),
    ],
)
def test_words_of_every_language_count(query, text):
    """A text that shares the words of a query scores higher than one that shares none."""
    shared, other = (dot(query_vector(query, b""), text_vector(bm25.count_words(one), b"")) for one in (text, "zzz"))
    assert shared > 0.3 > other


@given(st.integers(32, 1600), st.integers(0, 2**32))
def test_meaning_keeps_its_direction(size, seed):
    """The nearest meaning stays the nearest, also of embeddings with more than 256 numbers."""
    rng = random.Random(seed)
    own, other = (vectors.pack(rng.gauss() for _ in range(size)) for _ in range(2))
    query = query_vector("", own)
    cosine = next(iter(vectors.similarities(own, [other]))) or 0.0
    if cosine < 0.5:
        assert dot(query, text_vector({}, own)) > dot(query, text_vector({}, other))


def test_the_dot_product_is_the_score():
    """Where all words of a query are equally rare, it is the score of the exact ranking, but for rounding."""
    facts = [f"{a} {b}" for a in ("bees", "hens", "cats") for b in ("Linz", "Graz", "Wien")]
    counts = [bm25.count_words(fact) for fact in facts]
    rng = random.Random(3)
    meanings = [vectors.pack(rng.gauss() for _ in range(256)) for _ in facts]
    near = vectors.similarities(meanings[0], meanings)
    shares = bm25.shares("bees Linz", counts)
    exact = [score_fusion.fuse(share, one) for share, one in zip(shares, near, strict=True)]
    query = query_vector("bees Linz", meanings[0])
    made = [dot(query, text_vector(words, one)) for words, one in zip(counts, meanings, strict=True)]
    # The average text of this corpus has two words, not fourteen, so that its short texts weigh less.
    assert made == pytest.approx(exact, abs=0.1)
    assert max(range(9), key=made.__getitem__) == max(range(9), key=exact.__getitem__) == 0


@given(TEXTS, TEXTS)
def test_hashed_words_count_as_words(query, text):
    """A text whose words are known by their hashes has the same share of a query as the text itself."""
    words = bm25.count_words(text)
    other = bm25.count_words("bees hens cats dogs")
    plain = bm25.shares(query, [words, other])
    hashed = bm25.shares(query, [words_in_common(query, pack_words(words)), other])
    assert (hashed is None) == (plain is None)
    if plain:
        assert hashed == pytest.approx(plain)
