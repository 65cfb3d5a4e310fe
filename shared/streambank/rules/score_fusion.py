"""One score from two parts: the words that a text shares with a query, and the similarity of their vectors.

This is min-max fusion with the theoretical bounds of each part, not with the best and worst scores of one query. So
scores of different queries can be compared.
"""

from __future__ import annotations

# On LoCoMo words tell more than static vectors; any weight from 0.6 to 0.9 works (docs/decisions/0013).
WORD_WEIGHT = 0.75
LOWEST_SCORE = -1.0


def fuse(share: float | None, similarity: float | None, *, words: float = WORD_WEIGHT) -> float:
    """Return the score of a text, from -1 to 1; a missing part leaves its weight to the other.

    *share* is from 0 to 1, *similarity* is a cosine. Without both parts the score is -1.
    """
    if share is None:
        return LOWEST_SCORE if similarity is None else similarity
    return share if similarity is None else words * share + (1 - words) * similarity
