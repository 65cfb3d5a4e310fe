import math
import operator
import random
from array import array
from hashlib import sha256
from statistics import mean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streambank.rules import vectors

numbers = st.floats(-1e6, 1e6, allow_nan=False)
pairs = st.integers(1, 40).flatmap(
    lambda size: st.tuples(*[st.lists(numbers, min_size=size, max_size=size) for _ in range(2)])
)


@given(pair=pairs)
def test_a_vector_tells_its_model_and_length_from_others(pair):
    """Vectors of one model and one length are of the same model, whatever they are; all others are not."""
    one, other = (vectors.pack(numbers, "m") for numbers in pair)
    assert vectors.is_of_same_model(one, other)
    for strange in (vectors.pack(pair[1], "n"), vectors.pack(pair[1]), vectors.pack([*pair[1], 1.0], "m"), b""):
        assert not vectors.is_of_same_model(one, strange)
        assert not vectors.is_of_same_model(strange, one)
    assert vectors.is_of_same_model(*map(vectors.pack, pair))


def similarity(first, second):
    return next(vectors.similarities(first, [second]))


def cosine(first, second):
    dot = sum(a * b for a, b in zip(first, second, strict=True))
    return dot / math.hypot(*first) / math.hypot(*second)


def normal(size, seed):
    rng = random.Random(seed)
    return [rng.gauss() for _ in range(size)]


def slanted(numbers, likeness, seed):
    """Return numbers that have about this cosine to normal *numbers*."""
    beside = (1 - likeness**2) ** 0.5
    return [likeness * one + beside * other for one, other in zip(numbers, normal(len(numbers), seed), strict=True)]


def bytewise(numbers, model=""):
    """Return the vector that an earlier release made: a byte a number, after a mark and, lately, a model."""
    mark = b"m8\xc0\x7f" + sha256(model.encode()).digest()[:4] if model else b"i8\xc0\x7f"
    largest = max(map(abs, numbers))
    return mark + array("b", [round(number / largest * 127) for number in numbers]).tobytes()


def test_a_vector_of_256_numbers_takes_94_bytes():
    """Three numbers are one byte, and eight bytes tell that this is a vector, and of which model."""
    assert len(vectors.pack(normal(256, 1), "m")) == len(vectors.pack(normal(256, 1))) == 94


@given(size=st.integers(64, 3072), seed=st.integers(0, 2**32))
@settings(max_examples=20)
def test_a_vector_of_any_length_keeps_its_direction(size, seed):
    """Each number comes back in its place, whatever is left over in the last byte."""
    numbers = normal(size, seed)
    made = vectors.unpack(vectors.pack(numbers))
    assert len(made) == size
    assert cosine(numbers, made) >= 0.94
    assert [one > 0 for one in made] == [one > 0 for one in numbers]


@pytest.mark.parametrize("numbers", [[1.0, 0.2], [1.0] * 63, [1.0] + [0.01] * 255, [1.0, -1.0] + [0.0] * 254])
def test_levels_are_for_normal_numbers(numbers):
    """Few numbers, and those of which few outweigh the others, keep a byte each."""
    assert vectors.pack(numbers, "m") == bytewise(numbers, "m")
    assert similarity(*[vectors.pack(numbers)] * 2) == pytest.approx(1)


def test_zeros_alone_are_ones_in_either_form():
    """A vector without a direction has one, also a long one."""
    assert set(vectors.unpack(vectors.pack([0.0] * 256))) == {60}
    assert similarity(vectors.pack([0.0] * 256), vectors.pack([1.0] * 256)) == pytest.approx(1)


@given(likeness=st.floats(-1, 1), seed=st.integers(0, 2**32))
def test_likeness_survives_levels(likeness, seed):
    """No cosine of 256 normal numbers is off by more than an eighth; a vector has the cosine 1 to itself."""
    numbers = normal(256, seed)
    other = slanted(numbers, likeness, seed + 1)
    first, second = (vectors.pack(one, "m") for one in (numbers, other))
    assert similarity(first, second) == pytest.approx(cosine(numbers, other), abs=0.125)
    assert similarity(first, first) == pytest.approx(1, abs=1e-9)
    assert similarity(vectors.pack([-one for one in numbers], "m"), first) == pytest.approx(-1, abs=1e-9)
    assert all(-1 <= one <= 1 for one in vectors.similarities(first, [first, second]))


@pytest.mark.parametrize("likeness", [0, 0.2, 0.4, 0.6, 0.75, 0.85, 0.95, 0.98, 0.99])
def test_likeness_is_right_in_the_mean(likeness):
    """Levels make a cosine neither larger nor smaller, so that `CLOSE` means the same for old and new vectors."""
    off = {"both": [], "one": []}
    for seed in range(100):
        numbers = normal(256, seed)
        other = slanted(numbers, likeness, seed + 1_000)
        exact = cosine(numbers, other)
        off["both"].append(similarity(vectors.pack(numbers, "m"), vectors.pack(other, "m")) - exact)
        off["one"].append(similarity(vectors.pack(numbers, "m"), bytewise(other, "m")) - exact)
    for some in off.values():
        assert abs(mean(some)) < 0.015
        assert mean(map(abs, some)) < 0.02


@given(seed=st.integers(0, 2**32), far=st.floats(0, 0.7))
def test_order_survives_levels(seed, far):
    """Of two vectors that differ clearly in their likeness the more similar one stays it."""
    numbers = normal(256, seed)
    farther, nearer = (slanted(numbers, one, seed + 1) for one in (far, far + 0.25))
    query, *others = (vectors.pack(one, "m") for one in (numbers, farther, nearer))
    less, more = vectors.similarities(query, others)
    assert less < more


def test_near_vectors_have_different_distances():
    """The nearer of two near vectors has the smaller distance, until they are the same."""
    numbers = normal(256, 1)
    query, *others = (vectors.pack(slanted(numbers, one, 2), "m") for one in (1, 0.9, 0.95, 0.98, 0.995, 0.9999, 1))
    distances = list(map(vectors.distance, vectors.similarities(query, others)))
    assert distances == sorted(distances, reverse=True)
    assert len(set(distances)) == len(distances)
    assert distances[-1] == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("size", [64, 65, 66, 256, 1536])
def test_vectors_of_earlier_releases_are_compared(size):
    """Either may be the query; they are of the same model if their model and their length are the same."""
    numbers = normal(size, 1)
    older, unnamed, made = bytewise(numbers, "m"), bytewise(numbers), vectors.pack(numbers, "m")
    for other in (older, unnamed):
        assert similarity(made, other) == pytest.approx(1, abs=0.02)
        assert similarity(other, made) == pytest.approx(1, abs=0.02)
    assert vectors.is_of_same_model(older, made)
    assert vectors.is_of_same_model(unnamed, vectors.pack(numbers))
    for strange in (bytewise(numbers, "n"), unnamed, bytewise([*numbers, 1.0], "m"), b"", b"not a vector"):
        assert not vectors.is_of_same_model(made, strange)
    assert list(vectors.similarities(made, [bytewise(numbers, "n"), vectors.pack(numbers, "n")])) == [None, None]


def test_vectors_of_two_models_are_not_compared():
    """A vector names its model in four bytes more; one of an earlier release names none, and is compared as before."""
    one, same, other = (vectors.pack([1.0, 2.0], model) for model in ("a", "a", "b"))
    unnamed = vectors.pack([1.0, 2.0])
    assert len(one) == len(unnamed) + 4
    assert list(vectors.similarities(one, [other, b""])) == [None, None]
    assert list(vectors.similarities(one, [same, unnamed])) == pytest.approx([1, 1])
    assert similarity(unnamed, one) == pytest.approx(1)
    assert vectors.unpack(one) == vectors.unpack(unnamed)


@given(pair=pairs)
def test_likeness_survives_packing(pair):
    """The cosine of packed vectors is that of the numbers, to about a hundredth."""
    first, second = pair
    if math.hypot(*first) > 1e-9 and math.hypot(*second) > 1e-9:
        packed = [vectors.pack(one) for one in pair]
        assert similarity(*packed) == pytest.approx(cosine(first, second), abs=0.03)


@given(vector=st.lists(st.floats(), max_size=20))
def test_any_numbers_have_a_direction(vector):
    """Zeros, infinities and what is no number give a vector of the same length, never one of zeros."""
    made = vectors.unpack(vectors.pack(vector))
    assert len(made) == len(vector)
    assert not vector or any(made)


@given(vector=st.lists(numbers, min_size=1, max_size=20), factor=st.floats(1e-3, 1e3))
def test_length_does_not_matter(vector, factor):
    """A vector and its multiples are one direction."""
    if math.hypot(*vector) > 1e-9:
        made = [vectors.pack(vector), vectors.pack([factor * number for number in vector])]
        assert similarity(*made) == pytest.approx(1, abs=0.01)


@given(vector=st.lists(st.floats(width=32, allow_nan=False), min_size=1, max_size=20))
def test_floats_are_never_taken_for_a_packed_vector(vector):
    """What was packed as floats is refused, not misread."""
    with pytest.raises(ValueError, match="not a packed vector"):
        vectors.unpack(array("f", vector).tobytes())


def test_vectors_that_do_not_compare_have_no_likeness():
    """A vector of another length, and none at all, are like nothing."""
    one = vectors.pack([1, 0])
    assert list(vectors.similarities(one, [b"", vectors.pack([1, 0, 0])])) == [None, None]
    assert list(vectors.similarities(b"", [b"", one])) == [None, None]


@given(first=st.floats(-1, 1), second=st.floats(-1, 1))
def test_distance_falls_as_likeness_rises(first, second):
    """Distances lie between 0 and 2, and are Euclid's for unit vectors; the unknown is farthest."""
    near, far = sorted([vectors.distance(first), vectors.distance(second)])
    assert 0 <= near <= far <= vectors.MAX_DISTANCE == vectors.distance(None)
    assert vectors.distance(max(first, second)) == near
    assert vectors.distance(0) == math.sqrt(2)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_none_counts_as_zero(number):
    """A model's overflow has no part in the direction: the other numbers decide."""
    assert vectors.pack([0.5, number, -0.25]) == vectors.pack([0.5, 0.0, -0.25])


def test_the_vector_of_a_query_is_not_made_smaller():
    """It is not stored: it keeps a byte a number, and is nearer to what it was than one with levels."""
    chance = random.Random(5)
    numbers, others = ([chance.gauss() for _ in range(256)] for _ in range(2))
    query, stored = vectors.pack(numbers, "m", for_query=True), vectors.pack(others, "m")
    assert (len(query), len(stored)) == (264, 94)
    assert vectors.is_of_same_model(query, stored)
    exact = sum(map(operator.mul, numbers, others)) / math.hypot(*numbers) / math.hypot(*others)
    [near] = vectors.similarities(query, [stored])
    assert near == pytest.approx(exact, abs=0.05)
