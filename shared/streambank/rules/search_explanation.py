"""How the score of a search's hit came about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from streambank.model.memory import Citation, Memory
from streambank.model.search import Quote, SearchExplanation
from streambank.rules import bm25, score_fusion
from streambank.rules.bm25 import WordCounts
from streambank.rules.search_ranking import SearchEntry


def explain(
    query: str, entries: Sequence[SearchEntry], cited: Mapping[str, Sequence[Citation]], unread: int = 0
) -> dict[object, SearchExplanation]:
    """Return the explanation of each of *entries* by the key of its item; *entries* are all that were ranked.

    *unread* is as in `bm25.shares`.
    """
    words = [entry.words for entry in entries]
    shares: Sequence[float | None] = bm25.shares(query, words, unread) or [None] * len(entries)
    return {entry.key: _explanation(query, entry, share, cited) for share, entry in zip(shares, entries, strict=True)}


def _explanation(
    query: str, entry: SearchEntry, share: float | None, cited: Mapping[str, Sequence[Citation]]
) -> SearchExplanation:
    citations = cited.get(entry.item.id, ()) if isinstance(entry.item, Memory) else ()
    return SearchExplanation(
        share=share,
        similarity=entry.similarity,
        score=score_fusion.fuse(share, entry.similarity),
        words=common_words(query, entry.words),
        quote=_quote(query, citations),
    )


def common_words(query: str, text: WordCounts) -> tuple[str, ...]:
    """Return the words of *query* that *text* has in any form, in their order."""
    stems = {bm25.stem(word) for word in text}
    return tuple(word for word in bm25.count_words(query) if bm25.stem(word) in stems)


def _quote(query: str, citations: Sequence[Citation]) -> Quote | None:
    """Return the citation with most words of *query*, the first one of several, or None if none has any."""
    counts = [len(common_words(query, bm25.count_words(one.text))) for one in citations]
    if not any(counts):
        return None
    best = citations[counts.index(max(counts))]
    return Quote(best.sid, best.window, best.text)
