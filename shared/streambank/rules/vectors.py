"""Packs unit vectors into few bytes, and compares them.

A packed vector is a mark of four bytes, then a signed byte for each number, where the largest number is 127. A
direction needs no length, so 256 dimensions take 260 bytes. The mark is a float that is not a number, so that a vector
of packed floats cannot be confused with it.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator
from operator import mul

MARK = b"i8\xc0\x7f"
# The largest distance of two unit vectors; a missing vector has this distance.
MAX_DISTANCE = 2.0
_SCALE = 127


def pack(numbers: Iterable[float]) -> bytes:
    """Return the packed direction of *numbers*; numbers that are not finite count as 0, and zeros alone as ones."""
    finite = [number if math.isfinite(number) else 0.0 for number in numbers]
    largest = max(map(abs, finite), default=0.0)
    if not largest:
        finite, largest = [1.0] * len(finite), 1.0
    return MARK + array("b", [round(number / largest * _SCALE) for number in finite]).tobytes()


def unpack(vector: bytes) -> array[int]:
    """Return the numbers of a packed vector; an empty vector has none.

    Raises:
        ValueError: *vector* does not begin with the mark.
    """
    if vector and not vector.startswith(MARK):
        raise ValueError("not a packed vector")
    return array("b", vector[len(MARK) :])


def similarities(query: bytes, others: Iterable[bytes]) -> Iterator[float | None]:
    """Yield the cosine of each of *others* to *query*, or None if the vector is missing or of another length."""
    numbers = unpack(query)
    length = math.hypot(*numbers)
    unit = [number / length for number in numbers]
    for vector in others:
        other = unpack(vector)
        yield sum(map(mul, unit, other)) / math.hypot(*other) if other and len(other) == len(unit) else None


def distance(similarity: float | None) -> float:
    """Return the distance of unit vectors with this cosine, from 0 to 2; 2 if it is not known."""
    return MAX_DISTANCE if similarity is None else math.sqrt(max(0.0, 2.0 - 2.0 * similarity))
