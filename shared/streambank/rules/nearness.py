"""Which memories a model is given: those near a window's turns, and those close to a fact."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from streambank.model.memory import Memory
from streambank.model.plan import Candidate
from streambank.rules import bm25, score_fusion, vectors, wording

MAX_MEMORIES = 60
MAX_CHARACTERS = 12_000
# The cosine from which two texts may say the same.
CLOSE = 0.75


def near_turns(memories: Sequence[Memory], turns: Sequence[str], vector: bytes) -> list[Memory]:
    """Return the memories that a model reads beside a window: all of a small scope, else the best ones of a search.

    A memory counts by the words of the turn that fits it best, and by its similarity to *vector*, that of all turns.
    """
    if len(memories) <= MAX_MEMORIES:
        return within_characters(memories)
    words = [bm25.count_words(memory.fact) for memory in memories]
    shares = [bm25.shares(turn, words) for turn in turns]
    best = [max((share[index] for share in shares if share), default=None) for index in range(len(memories))]
    similar = vectors.similarities(vector, (memory.vector for memory in memories))
    scores = [score_fusion.fuse(share, one) for share, one in zip(best, similar, strict=True)]
    order = sorted(zip(scores, memories, strict=True), key=lambda pair: (-pair[0], pair[1].id))
    return within_characters([memory for _, memory in order][:MAX_MEMORIES])


def within_characters(memories: Iterable[Memory]) -> list[Memory]:
    """Return the first of *memories* that have room together; one that is too long is passed over."""
    kept, room = list[Memory](), MAX_CHARACTERS
    for memory in memories:
        if len(memory.fact) <= room and len(kept) < MAX_MEMORIES:
            kept.append(memory)
            room -= len(memory.fact)
    return kept


def close_to(candidate: Candidate, memories: Sequence[Memory]) -> list[Memory]:
    """Return the memories that may say the same as *candidate*, by meaning or by words."""
    near = _similarities(candidate, (memory.vector for memory in memories))
    return [
        memory
        for memory, one in zip(memories, near, strict=True)
        if (one is not None and one >= CLOSE) or wording.is_half_shared(candidate.fact, memory.fact)
    ]


def has_close_fact(candidate: Candidate, others: Sequence[Candidate]) -> bool:
    """Tell whether one of the *others* may say the same as *candidate*."""
    near = _similarities(candidate, (other.vector for other in others))
    return any(
        (one is not None and one >= CLOSE) or wording.is_half_shared(candidate.fact, other.fact)
        for other, one in zip(others, near, strict=True)
    )


def _similarities(candidate: Candidate, others: Iterable[bytes]) -> list[float | None]:
    """Return the cosine of each of *others* to *candidate*, None where it is not known."""
    known = list(others)
    return list(vectors.similarities(candidate.vector, known)) if candidate.vector else [None] * len(known)
