"""One score from two parts: the words that a text shares with a query, and how near its meaning is.

Both parts stand between bounds of their own that no query moves, so scores of different queries compare: min-max
fusion with the bounds of theory in place of the best and worst that happen to be there.
"""

from __future__ import annotations

# Words tell more than static vectors do on LoCoMo; any weight from 0.6 to 0.9 serves (docs/decisions/0013).
WORD_WEIGHT = 0.75
LOWEST_SCORE = -1.0


def fuse(share: float | None, similarity: float | None, *, words: float = WORD_WEIGHT) -> float:
    """Return the score of a text, at most 1: a part that is not known leaves its weight to the other.

    *share* is from 0 to 1, *similarity* a cosine; without both the score is the least there is, -1.
    """
    if share is None:
        return LOWEST_SCORE if similarity is None else similarity
    return share if similarity is None else words * share + (1 - words) * similarity
