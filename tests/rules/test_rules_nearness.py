"""Which memories a model is given: those near a window's turns, and those close to a fact."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank.rules import nearness, vectors
from tests.rules.building import candidate, memory

EAST, NORTH = vectors.pack([1, 0]), vectors.pack([0, 1])


def slanted(cosine):
    """Return a vector with this cosine to EAST."""
    return vectors.pack([cosine, (1 - cosine**2) ** 0.5])


def memories(count, **more):
    return [memory(f"m{number:03}", "I like tea", **more) for number in range(count)]


def test_a_small_scope_is_given_as_it_stands():
    """With as many memories as a model may read, none is left out and none is moved, whatever the turns say."""
    some = memories(nearness.MAX_MEMORIES, vector=NORTH)
    some[-1] = memory("last", "I keep bees", vector=EAST)
    assert nearness.near_turns(some, ["bees"], EAST) == some


def test_of_a_large_scope_the_best_memories_are_given():
    """With one memory more, the best ones come first, and as many as a model may read."""
    some = [*memories(nearness.MAX_MEMORIES), memory("last", "I keep bees")]
    best = nearness.near_turns(some, ["green tea", "the bees"], b"")
    assert len(best) == nearness.MAX_MEMORIES
    assert best[0] == some[-1]
    assert best[1:] == some[: nearness.MAX_MEMORIES - 1]


def test_only_the_best_memories_are_looked_at():
    """A memory among the best ones that is too long leaves its place empty: no worse one is given instead."""
    too_long = memory("last", "bees " + "x" * nearness.MAX_CHARACTERS)
    some = [*memories(nearness.MAX_MEMORIES), too_long]
    assert nearness.near_turns(some, ["bees"], b"") == some[: nearness.MAX_MEMORIES - 1]


def test_a_memory_counts_by_the_turn_that_fits_it_best():
    """A memory that repeats one turn comes before one that has a word of each of two turns."""
    rent, two = memory("b", "My rent is 900 euros"), memory("a", "A rent in Graz, perhaps")
    some = [*memories(nearness.MAX_MEMORIES), two, rent]
    assert nearness.near_turns(some, ["My rent is 900 euros", "I live in Graz"], b"")[:2] == [rent, two]


def test_a_memory_counts_by_its_meaning():
    """Without a common word, the memory with the more similar vector comes first."""
    near, nearest = memory("a", "I keep bees", vector=slanted(0.6)), memory("b", "I own hives", vector=slanted(0.9))
    some = [*memories(nearness.MAX_MEMORIES, vector=NORTH), near, nearest]
    assert nearness.near_turns(some, ["honey"], EAST)[:2] == [nearest, near]


def test_a_model_reads_at_most_sixty_memories_of_twelve_thousand_characters():
    """The documents say so (docs/models.md)."""
    assert (nearness.MAX_MEMORIES, nearness.MAX_CHARACTERS) == (60, 12_000)


def test_no_more_memories_than_a_model_may_read():
    """Also short memories are given up to a number."""
    some = memories(nearness.MAX_MEMORIES + 1)
    assert nearness.within_characters(some) == some[:-1]


def test_a_long_memory_is_passed_over():
    """All characters may be used; a memory that is one too long is left out, and later ones still come."""
    first, rest = memory("a", "x" * 7_000), memory("c", "z" * (nearness.MAX_CHARACTERS - 7_001))
    too_long, last, none = memory("b", "y" * (nearness.MAX_CHARACTERS - 6_999)), memory("d", "v"), memory("e", "w")
    assert nearness.within_characters([first, too_long, rest, last, none]) == [first, rest, last]


@given(st.lists(st.integers(0, 2 * nearness.MAX_CHARACTERS), max_size=100))
def test_what_is_given_has_room(lengths):
    """Whatever the memories, those that are given have room together, in their order; the others had none."""
    known = [memory(f"m{number}", "x" * length) for number, length in enumerate(lengths)]
    kept = nearness.within_characters(known)
    total = sum(len(one.fact) for one in kept)
    assert kept == [one for one in known if one in kept]
    assert total <= nearness.MAX_CHARACTERS
    assert len(kept) <= nearness.MAX_MEMORIES
    left_out = [one for one in known if one not in kept]
    is_full = len(kept) == nearness.MAX_MEMORIES
    assert is_full or all(len(one.fact) + total > nearness.MAX_CHARACTERS for one in left_out)


@pytest.mark.parametrize(("cosine", "is_close"), [(0.76, True), (0.74, False)])
def test_a_similar_vector_makes_a_text_close(cosine, is_close):
    """Of memories without a common word, those with a cosine of 0.75 and more may say the same; likewise of facts."""
    bees, hives = candidate("I keep bees", vector=EAST), memory("m1", "Owner of hives", vector=slanted(cosine))
    assert nearness.close_to(bees, [hives]) == [hives] * is_close
    assert nearness.has_close_fact(bees, [candidate(hives.fact, vector=hives.vector)]) is is_close


def test_common_words_make_a_text_close():
    """Half of the words of a fact are enough where the vectors differ or are missing."""
    for vector in (NORTH, b""):
        rent, other = candidate("My rent is 900 euros", vector=EAST), memory("m1", "My rent: 950 euros", vector=vector)
        assert nearness.close_to(rent, [memory("m2", "I like tea", vector=vector), other]) == [other]
        assert nearness.has_close_fact(rent, [candidate(other.fact, vector=vector)])
    assert nearness.close_to(candidate("My rent is 900 euros"), [other]) == [other]
    assert not nearness.has_close_fact(rent, [])
