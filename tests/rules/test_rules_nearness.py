"""Which memories a model is given: all of a small scope, the best ones of a large scope, those close to a fact."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank.rules import nearness, vectors
from streambank.rules.nearness import MAX_CHARACTERS, MAX_MEMORIES
from tests.rules.building import candidate, memory


def at(angle):
    return vectors.pack([math.cos(angle), math.sin(angle)])


def many(count, fact="I like tea number {}", **more):
    return [memory(f"m{number:03}", fact.format(number), **more) for number in range(count)]


def test_a_small_scope_is_given_whole():
    """All of up to sixty memories, in their order, whatever the turns say."""
    known = many(MAX_MEMORIES)
    assert nearness.near_turns(known, ["I like number 7"], b"") == known


def test_of_a_large_scope_the_memories_with_the_words_of_a_turn_are_given():
    """A memory counts by the turn that fits it best, not by the first or by all of them."""
    known = [*many(100), memory("z1", "My cousin plays the oboe"), memory("z2", "Her parrot speaks Dutch")]
    given_ = nearness.near_turns(known, ["Hello there", "What about the oboe?", "Is the parrot well?"], b"")
    assert len(given_) == MAX_MEMORIES
    assert {one.id for one in given_[:2]} == {"z1", "z2"}


def test_of_a_large_scope_the_memories_with_the_meaning_of_the_turns_are_given():
    """Without a word in common the vectors decide; equal scores are ordered by id."""
    known = [*many(100, vector=at(3)), memory("z1", "My cousin plays the oboe", vector=at(0.1))]
    given_ = [one.id for one in nearness.near_turns(known, ["Hmm"], at(0))]
    assert given_ == ["z1", *(f"m{number:03}" for number in range(MAX_MEMORIES - 1))]


@given(st.lists(st.integers(0, 2 * MAX_CHARACTERS), max_size=100))
def test_what_is_given_has_room(lengths):
    """At most sixty memories of 12,000 characters together, in their order; what is left out had no room."""
    known = [memory(f"m{number}", "x" * length) for number, length in enumerate(lengths)]
    kept = nearness.within_characters(known)
    total = sum(len(one.fact) for one in kept)
    assert kept == [one for one in known if one in kept]
    assert total <= MAX_CHARACTERS
    assert len(kept) <= MAX_MEMORIES
    left_out = [one for one in known if one not in kept]
    assert len(kept) == MAX_MEMORIES or all(len(one.fact) + total > MAX_CHARACTERS for one in left_out)


def test_sixty_short_memories_are_given_at_most():
    """The sixty-first has room, and is left out."""
    assert nearness.within_characters(many(MAX_MEMORIES + 1)) == many(MAX_MEMORIES)


@pytest.mark.parametrize(("cosine", "is_close"), [(0.74, False), (0.76, True), (-1.0, False)])
def test_texts_of_one_meaning_are_close(cosine, is_close):
    """From a cosine of 0.75 on, without a word in common: to a memory and to another fact."""
    vector, other = at(0), at(math.acos(cosine))
    fact = candidate("I keep bees", vector=vector)
    assert bool(nearness.close_to(fact, [memory("m1", "Honey everywhere", vector=other)])) is is_close
    assert nearness.has_close_fact(fact, [candidate("Honey everywhere", vector=other)]) is is_close


@pytest.mark.parametrize("vector", [b"", at(0)])
def test_texts_of_the_same_words_are_close_whatever_their_vectors(vector):
    """A text without a vector, or with one of another direction, is compared by its words."""
    fact, far = candidate("My rent is 900 euros", vector=vector), at(math.pi)
    assert (
        nearness.close_to(fact, [memory("m1", "My rent is 950 euros", vector=far), memory("m2", "I ski")])[0].id == "m1"
    )
    assert nearness.has_close_fact(fact, [candidate("My rent is 950 euros", vector=far)])
    assert not nearness.has_close_fact(fact, [candidate("I keep geese", vector=far)])
    assert not nearness.has_close_fact(fact, [])
