"""Ranks memories and events of a scope for a query, by shared words and by similarity of vectors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from streambank.model.memory import Citation, Memory
from streambank.model.search import RawEvent
from streambank.rules import bm25, citations, score_fusion, vectors, word_vectors
from streambank.rules.bm25 import WordCounts

# The weight of the words of the turns before and after an event, and up to how many words of its own the event has them
# at this weight. LoCoMo's turns have about 14 words, and need what stands beside them (docs/decisions/0013).
NEIGHBOUR_WEIGHT = 0.5
SHORT_TURN_WORDS = 24
# Scores that differ by less are a near tie: so little is no reason to show the older one first.
NEAR_TIE = 0.005


@dataclass(frozen=True, slots=True)
class EmbeddedQuery:
    """The text of a search, and its packed vector."""

    text: str
    vector: bytes


@dataclass(frozen=True, slots=True)
class SearchEntry:
    """A memory or an event to rank: its words, and its similarity to the query, if known."""

    item: Memory | RawEvent
    words: WordCounts
    similarity: float | None

    @property
    def key(self) -> object:
        """The key of the item."""
        return item_key(self.item)

    def precedence(self) -> tuple[bool, float, str]:
        """Return the sort key of entries with equal scores: memories before events, the newer one first, then by id."""
        if isinstance(self.item, Memory):
            return False, -self.item.updated.timestamp(), self.item.id
        return True, -self.item.event.order()[0].timestamp(), f"{self.item.stream.sid} {self.item.event.seq:012}"


Hit = tuple[float, Memory | RawEvent]


def item_key(item: Memory | RawEvent) -> object:
    """Return what an item is told from all others by: a memory's id, an event's stream and number."""
    return item.id if isinstance(item, Memory) else item.source


def memory_entries(
    query: EmbeddedQuery,
    memories: Sequence[Memory],
    cited: Mapping[str, Sequence[Citation]],
    hashed: Mapping[str, bytes] = MappingProxyType({}),
) -> list[SearchEntry]:
    """Return the entries of *memories*; a memory matches by its fact and by the turns that it cites.

    Of a memory in *hashed* the turns' words are known by their hashes alone.
    """

    def words(memory: Memory) -> WordCounts:
        own = bm25.count_words("\n".join([memory.fact, *(one.text for one in cited.get(memory.id, ()))]))
        others = hashed.get(memory.id)
        return bm25.add_weighted(own, (1, word_vectors.words_in_common(query.text, others))) if others else own

    near = vectors.similarities(query.vector, (memory.vector for memory in memories))
    return [SearchEntry(memory, words(memory), one) for memory, one in zip(memories, near, strict=True)]


def event_entries(
    query: EmbeddedQuery, events: Sequence[RawEvent], own: Sequence[bytes], memories: Sequence[SearchEntry]
) -> list[SearchEntry]:
    """Return the entries of *events*, with the words of their neighbours at a lower weight.

    *own* holds the vectors of the first events. Each other event has the similarity of the nearest memory that cites
    it, or none.
    """
    words = {one.source: bm25.count_words(citations.event_line(one.event)) for one in events}
    direct = dict(zip((one.source for one in events), vectors.similarities(query.vector, own), strict=False))
    near = _similarity_of_citing_memories(memories) | direct
    return [SearchEntry(one, _with_neighbours(one, words), near.get(one.source)) for one in events if words[one.source]]


def _with_neighbours(one: RawEvent, words: Mapping[tuple[str, int], WordCounts]) -> WordCounts:
    sid, seq = one.source
    own = words[one.source]
    weight = neighbour_weight(sum(own.values()))
    beside = (words[near] for near in ((sid, seq - 1), (sid, seq + 1)) if near in words)
    return bm25.add_weighted(own, *((weight, other) for other in beside))


def neighbour_weight(own_words: float) -> float:
    """Return the weight of the words beside a turn with *own_words* words: a long turn has less of its neighbours."""
    return NEIGHBOUR_WEIGHT * SHORT_TURN_WORDS / max(SHORT_TURN_WORDS, own_words)


def _similarity_of_citing_memories(memories: Sequence[SearchEntry]) -> dict[tuple[str, int], float]:
    """Return, for each cited event, the similarity of the nearest memory that cites it."""
    near: dict[tuple[str, int], float] = {}
    for entry in memories:
        if entry.similarity is not None:
            for place in cited_events(entry.item):
                near[place] = max(entry.similarity, near.get(place, entry.similarity))
    return near


def cited_events(item: Memory | RawEvent) -> Iterator[tuple[str, int]]:
    """Yield stream and number of each event that a memory cites; an event cites none."""
    for evidence in item.evidence if isinstance(item, Memory) else ():
        for seq in evidence.seqs:
            yield evidence.sid, seq


def rank(query: str, entries: Sequence[SearchEntry], unread: int = 0) -> list[Hit]:
    """Return *entries* with their distance from *query*, nearest first; near ties by the newer one, then by id.

    If no entry shares a word with the query, the similarity alone decides. *unread* is as in `bm25.shares`.
    """
    words = [entry.words for entry in entries]
    shares: Sequence[float | None] = bm25.shares(query, words, unread) or [None] * len(entries)
    scores = (score_fusion.fuse(share, entry.similarity) for share, entry in zip(shares, entries, strict=True))
    scored = order_by_score(zip(scores, entries, strict=True))
    return [(vectors.distance(score), entry.item) for score, entry in scored]


def order_by_score(scored: Iterable[tuple[float, SearchEntry]]) -> list[tuple[float, SearchEntry]]:
    """Return entries with their scores, the highest first.

    The highest score and those less than `NEAR_TIE` below it are a near tie. Its entries all have the highest score,
    and are in order of precedence. The next near tie is of the scores below these.
    """
    levelled = list[tuple[float, SearchEntry]]()
    highest = math.inf
    for score, entry in sorted(scored, key=lambda pair: -pair[0]):
        if highest - score >= NEAR_TIE:
            highest = score
        levelled.append((highest, entry))
    levelled.sort(key=lambda pair: (-pair[0], *pair[1].precedence()))
    return levelled


def drop_cited_events(hits: Sequence[Hit]) -> Iterator[Hit]:
    """Yield *hits* without the events that a better memory among them cites."""
    cited: set[tuple[str, int]] = set()
    for distance, item in hits:
        cited.update(cited_events(item))
        if isinstance(item, Memory) or item.source not in cited:
            yield distance, item
