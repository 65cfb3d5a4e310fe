"""Distances between packed vectors."""

from __future__ import annotations

import math
from array import array

# Unit vectors are at most this far apart; what has no vector counts as far away.
FARTHEST = 2.0


def unpacked(vector: bytes) -> array[float]:
    """Return the numbers of a little-endian float32 vector."""
    numbers = array("f")
    numbers.frombytes(vector)
    return numbers


def distance(first: array[float], second: array[float]) -> float:
    """Return the Euclidean distance; vectors of other lengths (another model's) are far away."""
    return math.dist(first, second) if first and len(first) == len(second) else FARTHEST
