"""Which memories answer a query, or may be consolidated with a candidate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from streambank.model.memory import Memory
from streambank.model.metadata import MergeStrategy
from streambank.model.plan import Candidate
from streambank.model.rule import WindowSettings
from streambank.rules import vectors

# What a model is shown: the nearest memories of each candidate, and no more than these altogether.
NEAREST = 10
MOST_OFFERED = 60


def rank_by_distance(memories: Sequence[Memory], query: bytes) -> list[tuple[float, Memory]]:
    """Return *memories* with their vectors' distance to *query*, nearest first; ties by the newer one, then by id."""
    near = vectors.similarities(query, (memory.vector for memory in memories))
    pairs = [(vectors.distance(one), memory) for one, memory in zip(near, memories, strict=True)]
    return sorted(pairs, key=lambda pair: (pair[0], -pair[1].updated.timestamp(), pair[1].id))


def eligible(memories: Iterable[Memory], settings: WindowSettings) -> list[Memory]:
    """Return what may be consolidated: under REQUIRE_EXACT_MATCH only memories of exactly equal metadata."""
    if settings.merge_strategy is not MergeStrategy.REQUIRE_EXACT_MATCH:
        return list(memories)
    return [memory for memory in memories if memory.metadata == (settings.metadata or {})]


def nearest_to_candidates(candidates: Sequence[Candidate], memories: Sequence[Memory]) -> list[Memory]:
    """Return the memories nearest to *candidates*, each candidate's own before anybody's farther ones."""
    rankings = [
        rank_by_distance(memories, candidate.vector)[:NEAREST] for candidate in candidates if not candidate.rejected
    ]
    by_rank = (memory for rank in range(NEAREST) for one in rankings for _, memory in one[rank : rank + 1])
    return list({memory.id: memory for memory in by_rank}.values())[:MOST_OFFERED]
