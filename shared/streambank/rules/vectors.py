"""Packs unit vectors into few bytes, and compares them.

A direction needs no length, and its numbers are about normal. So a packed vector has one of six levels for each number,
the Lloyd-Max levels of a normal distribution, and a byte holds three of them: 256 dimensions take 94 bytes. A mark of
four bytes comes first, then four bytes that stand for the model. Number i is in byte i % n of n: its place there is
i // n, so that a table for each place decodes all bytes at once.

Where levels would turn the direction too far, a number is a signed byte, and the largest number is 127: in a short
vector, in a query's, and where few numbers outweigh the others. Vectors of earlier releases have this form too. Each
mark is a float that is not a number, so that a vector of packed floats cannot be confused with it.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from operator import mul

MARK = b"i8\xc0\x7f"
MODEL_MARK = b"m8\xc0\x7f"
# The digit is the number of places in the last bytes that hold no number.
LEVEL_MARKS = (b"60\xc0\x7f", b"61\xc0\x7f", b"62\xc0\x7f")
_MODEL_BYTES = 4
_NO_MODEL = bytes(_MODEL_BYTES)
# The largest distance of two unit vectors; a missing vector has this distance.
MAX_DISTANCE = 2.0
_SCALE = 127
# The levels of a normal distribution are 0.318, 1.000 and 1.894 times its deviation, either way, here in sixtieths.
_LEVELS = (-114, -60, -19, 19, 60, 114)
_BOUNDS = (-1.44685, -0.65891, 0.0, 0.65891, 1.44685)
_SIGNED = array("b", _LEVELS).tobytes()
_BY_PLACE = tuple((b"".join(_SIGNED[at : at + 1] * repeats for at in range(6)) * 43)[:256] for repeats in (1, 6, 36))
# The cosine of a vector to its levels, if its numbers are normal; and the least that a vector with levels has.
_LEVEL_COSINE = 0.9706
_LEAST_COSINE = 0.94
_FEWEST_LEVELS = 64


def pack(numbers: Iterable[float], model: str = "", *, for_query: bool = False) -> bytes:
    """Return the packed direction of *numbers*, made by *model*.

    Numbers that are not finite count as 0, and zeros alone as ones. The vector of a query is not stored, and keeps a
    byte a number.
    """
    finite = [number if math.isfinite(number) else 0.0 for number in numbers]
    largest = max(map(abs, finite), default=0.0)
    unit = [number / largest for number in finite] if largest else [1.0] * len(finite)
    name = sha256(model.encode()).digest()[:_MODEL_BYTES] if model else b""
    codes = [] if for_query else _level_codes(unit)
    if codes:
        size = -(-len(codes) // 3)
        codes += [0] * (3 * size - len(codes))
        first, second, third = (codes[place * size : (place + 1) * size] for place in range(3))
        packed = bytes(a + 6 * b + 36 * c for a, b, c in zip(first, second, third, strict=True))
        return LEVEL_MARKS[3 * size - len(unit)] + (name or _NO_MODEL) + packed
    return (MODEL_MARK + name if name else MARK) + array("b", [round(number * _SCALE) for number in unit]).tobytes()


def _level_codes(numbers: Sequence[float]) -> list[int]:
    """Return which level each of *numbers* has; empty where levels would turn their direction too far."""
    if len(numbers) < _FEWEST_LEVELS:
        return []
    length = math.hypot(*numbers)
    deviation = length / math.sqrt(len(numbers))
    bounds = [bound * deviation for bound in _BOUNDS]
    codes = [bisect(bounds, number) for number in numbers]
    levels = [_LEVELS[code] for code in codes]
    is_near = sum(map(mul, numbers, levels)) >= _LEAST_COSINE * length * math.hypot(*levels)
    return codes if is_near else []


def unpack(vector: bytes) -> array[int]:
    """Return the numbers of a packed vector; an empty vector has none.

    Raises:
        ValueError: *vector* does not begin with a mark.
    """
    if _has_levels(vector):
        packed = vector[len(MARK) + _MODEL_BYTES :]
        places = b"".join(map(packed.translate, _BY_PLACE))
        return array("b", places[: len(places) - _empty_places(vector)])
    if vector and not vector.startswith((MARK, MODEL_MARK)):
        raise ValueError("not a packed vector")
    return array("b", vector[len(MARK) + len(_model(vector)) :])


def _has_levels(vector: bytes) -> bool:
    return vector.startswith(LEVEL_MARKS)


def _empty_places(vector: bytes) -> int:
    return LEVEL_MARKS.index(vector[: len(MARK)])


def _count(vector: bytes) -> int:
    """Return how many numbers *vector* has."""
    if _has_levels(vector):
        return 3 * (len(vector) - len(MARK) - _MODEL_BYTES) - _empty_places(vector)
    return max(0, len(vector) - len(MARK) - len(_model(vector)))


def _model(vector: bytes) -> bytes:
    """Return the bytes that stand for the model of *vector*; none if it names no model."""
    has_model = vector.startswith((MODEL_MARK, *LEVEL_MARKS))
    model = vector[len(MARK) : len(MARK) + _MODEL_BYTES] if has_model else b""
    return b"" if model == _NO_MODEL and _has_levels(vector) else model


def similarities(query: bytes, others: Iterable[bytes]) -> Iterator[float | None]:
    """Yield the cosine of each of *others* to *query*, or None if the vector is missing or of another model."""
    numbers, has_levels = unpack(query), _has_levels(query)
    model = _model(query)
    length = math.hypot(*numbers)
    unit = [number / length for number in numbers]
    for vector in others:
        other = unpack(vector)
        is_of_model = len(other) == len(unit) and (not model or _model(vector) in (b"", model))
        if other and is_of_model:
            cosine = sum(map(mul, unit, other)) / math.hypot(*other)
            yield _cosine_of_numbers(cosine, has_levels + _has_levels(vector))
        else:
            yield None


def _cosine_of_numbers(cosine: float, count: int) -> float:
    """Return the cosine that two vectors had when *count* of them were given levels; *cosine* is what they have now.

    Levels turn each vector by its own small angle, so that cosines are too small by a factor. Where both have levels,
    near vectors are turned alike: the factor rises to 1 in a parabola, and one vector twice has exactly the cosine 1.
    """
    factor = _LEVEL_COSINE**count
    missing, loss = 1.0 - abs(cosine), 1.0 - factor
    if count == 2 and missing < 2.0 * loss:
        return math.copysign(1.0 - max(0.0, missing) ** 2 / (4.0 * loss * factor), cosine)
    return max(-1.0, min(1.0, cosine / factor))


def distance(similarity: float | None) -> float:
    """Return the distance of unit vectors with this cosine, from 0 to 2; 2 if it is not known."""
    return MAX_DISTANCE if similarity is None else math.sqrt(max(0.0, 2.0 - 2.0 * similarity))


def is_of_same_model(vector: bytes, other: bytes) -> bool:
    """Tell whether one model made both vectors, with as many numbers; a vector that names no model is of no other's."""
    return _model(vector) == _model(other) and _count(vector) == _count(other)
