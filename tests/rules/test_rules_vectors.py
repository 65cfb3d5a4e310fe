import math
from array import array

import pytest
from hypothesis import given
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


def test_a_vector_of_256_numbers_takes_260_bytes():
    """A number is one byte, and four bytes tell that this is a vector."""
    assert len(vectors.pack([0.1] * 256)) == 260


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
