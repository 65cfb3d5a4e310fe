"""Ranks memories by distance, and selects those that are consolidated with candidates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from streambank.model.memory import Memory
from streambank.model.metadata import MergeStrategy
from streambank.model.plan import Candidate
from streambank.model.rule import WindowSettings
from streambank.rules import bm25, vectors

# A prompt contains the nearest memories of each candidate, and at most so many in all.
NEAREST = 10
MAX_OFFERED = 60


def rank_by_distance(memories: Sequence[Memory], query: bytes) -> list[tuple[float, Memory]]:
    """Return *memories* with their distance to *query*, nearest first; ties by the newer one, then by id."""
    near = vectors.similarities(query, (memory.vector for memory in memories))
    pairs = [(vectors.distance(one), memory) for one, memory in zip(near, memories, strict=True)]
    return sorted(pairs, key=lambda pair: (pair[0], -pair[1].updated.timestamp(), pair[1].id))


def eligible(memories: Iterable[Memory], settings: WindowSettings) -> list[Memory]:
    """Return the memories that may be consolidated; REQUIRE_EXACT_MATCH requires equal metadata."""
    if settings.merge_strategy is not MergeStrategy.REQUIRE_EXACT_MATCH:
        return list(memories)
    return [memory for memory in memories if memory.metadata == (settings.metadata or {})]


def nearest_to_candidates(candidates: Sequence[Candidate], memories: Sequence[Memory]) -> list[Memory]:
    """Return the memories nearest to *candidates*: first the nearest of each, then the second of each."""
    rankings = [_nearest(candidate, memories)[:NEAREST] for candidate in candidates if not candidate.rejected]
    by_rank = (memory for rank in range(NEAREST) for one in rankings for memory in one[rank : rank + 1])
    return list({memory.id: memory for memory in by_rank}.values())[:MAX_OFFERED]


def _nearest(candidate: Candidate, memories: Sequence[Memory]) -> list[Memory]:
    """Return *memories*, nearest first: by distance, or by shared words if the candidate has no vector."""
    if candidate.vector:
        return [memory for _, memory in rank_by_distance(memories, candidate.vector)]
    shares = bm25.shares(candidate.fact, [bm25.count_words(memory.fact) for memory in memories])
    pairs = zip(shares or [0.0] * len(memories), memories, strict=True)
    order = sorted(pairs, key=lambda pair: (-pair[0], -pair[1].updated.timestamp(), pair[1].id))
    return [memory for _, memory in order]
