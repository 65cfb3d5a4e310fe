"""Packs unit vectors into few bytes, and compares them.

A packed vector is a mark of four bytes, four bytes that stand for its model, then a signed byte for each number, where
the largest number is 127. A direction needs no length, so 256 dimensions take 264 bytes. The mark is a float that is
not a number, so that a vector of packed floats cannot be confused with it. Vectors of earlier releases have another
mark and no model.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator
from hashlib import sha256
from operator import mul

MARK = b"i8\xc0\x7f"
MODEL_MARK = b"m8\xc0\x7f"
_MODEL_BYTES = 4
# The largest distance of two unit vectors; a missing vector has this distance.
MAX_DISTANCE = 2.0
_SCALE = 127


def pack(numbers: Iterable[float], model: str = "") -> bytes:
    """Return the packed direction of *numbers*, made by *model*.

    Numbers that are not finite count as 0, and zeros alone as ones.
    """
    finite = [number if math.isfinite(number) else 0.0 for number in numbers]
    largest = max(map(abs, finite), default=0.0)
    if not largest:
        finite, largest = [1.0] * len(finite), 1.0
    mark = MODEL_MARK + sha256(model.encode()).digest()[:_MODEL_BYTES] if model else MARK
    return mark + array("b", [round(number / largest * _SCALE) for number in finite]).tobytes()


def unpack(vector: bytes) -> array[int]:
    """Return the numbers of a packed vector; an empty vector has none.

    Raises:
        ValueError: *vector* does not begin with a mark.
    """
    if vector and not vector.startswith((MARK, MODEL_MARK)):
        raise ValueError("not a packed vector")
    return array("b", vector[len(MARK) + len(_model(vector)) :])


def _model(vector: bytes) -> bytes:
    """Return the bytes that stand for the model of *vector*; none if it names no model."""
    return vector[len(MARK) : len(MARK) + _MODEL_BYTES] if vector.startswith(MODEL_MARK) else b""


def similarities(query: bytes, others: Iterable[bytes]) -> Iterator[float | None]:
    """Yield the cosine of each of *others* to *query*, or None if the vector is missing or of another model."""
    numbers = unpack(query)
    model = _model(query)
    length = math.hypot(*numbers)
    unit = [number / length for number in numbers]
    for vector in others:
        other = unpack(vector)
        is_of_model = len(other) == len(unit) and (not model or _model(vector) in (b"", model))
        yield sum(map(mul, unit, other)) / math.hypot(*other) if other and is_of_model else None


def distance(similarity: float | None) -> float:
    """Return the distance of unit vectors with this cosine, from 0 to 2; 2 if it is not known."""
    return MAX_DISTANCE if similarity is None else math.sqrt(max(0.0, 2.0 - 2.0 * similarity))


def is_of_same_model(vector: bytes, other: bytes) -> bool:
    """Tell whether one model made both vectors, with the same length; a vector that names no model is of no other's."""
    return _model(vector) == _model(other) and len(vector) == len(other)
