"""Unit vectors in few bytes, and how alike two of them are.

A packed vector is a mark of four bytes and a signed byte for each number, the largest at 127: a direction needs no
length beside it, so 256 dimensions take 260 bytes. The mark is a float that is not a number: whatever is packed as
floats cannot be taken for it, nor it for floats.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator
from operator import mul

MARK = b"i8\xc0\x7f"
# Unit vectors are at most this far apart; what has no vector counts as far away.
FARTHEST = 2.0
_LARGEST = 127


def pack(numbers: Iterable[float]) -> bytes:
    """Return the direction of *numbers*; zeros, and what is not finite, point nowhere in particular."""
    finite = [number if math.isfinite(number) else 0.0 for number in numbers]
    most = max(map(abs, finite), default=0.0)
    if not most:
        finite, most = [1.0] * len(finite), 1.0
    return MARK + array("b", [round(number / most * _LARGEST) for number in finite]).tobytes()


def unpack(vector: bytes) -> array[int]:
    """Return the direction that *vector* packs, empty for no vector.

    Raises:
        ValueError: it was packed by something else.
    """
    if vector and not vector.startswith(MARK):
        raise ValueError("not a packed vector")
    return array("b", vector[len(MARK) :])


def similarities(query: bytes, others: Iterable[bytes]) -> Iterator[float | None]:
    """Yield the cosine of each of *others* to *query*, None where one is missing or of another length."""
    wanted = unpack(query)
    length = math.hypot(*wanted)
    unit = [number / length for number in wanted]
    for vector in others:
        other = unpack(vector)
        yield sum(map(mul, unit, other)) / math.hypot(*other) if other and len(other) == len(unit) else None


def distance(similarity: float | None) -> float:
    """Return how far apart unit vectors of this cosine are, from 0 to 2; farthest where it is not known."""
    return FARTHEST if similarity is None else math.sqrt(max(0.0, 2.0 - 2.0 * similarity))
