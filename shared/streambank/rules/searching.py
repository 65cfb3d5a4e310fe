"""Which memories and events of a scope answer a query: by the words they share with it and by their meaning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from streambank.model.memory import Citation, Memory
from streambank.model.search import RawEvent
from streambank.rules import citing, fusion, lexical, vectors
from streambank.rules.lexical import Words

# What the turns before and after a turn count beside its own words.
NEIGHBOUR = 0.5


@dataclass(frozen=True, slots=True)
class Query:
    """What is searched for, and its packed vector."""

    text: str
    vector: bytes


@dataclass(frozen=True, slots=True)
class Entry:
    """A memory or an event that may answer: its words, how near its meaning is where that is known."""

    what: Memory | RawEvent
    words: Words
    similarity: float | None

    def precedence(self) -> tuple[bool, float, str]:
        """Return what orders entries of one score: memories before events, the newer one first, then by id."""
        if isinstance(self.what, Memory):
            return False, -self.what.updated.timestamp(), self.what.id
        return True, -self.what.event.order()[0].timestamp(), f"{self.what.stream.sid} {self.what.event.seq:012}"


Hit = tuple[float, Memory | RawEvent]


def of_memories(query: Query, memories: Sequence[Memory], cited: Mapping[str, Sequence[Citation]]) -> list[Entry]:
    """Return *memories* as what may answer *query*: a memory is found by its fact and by the turns it cites."""
    near = vectors.similarities(query.vector, (memory.vector for memory in memories))
    return [
        Entry(memory, lexical.words("\n".join([memory.fact, *(one.said for one in cited.get(memory.id, ()))])), one)
        for memory, one in zip(memories, near, strict=True)
    ]


def of_events(query: Query, events: Sequence[RawEvent], own: Sequence[bytes], memories: Sequence[Entry]) -> list[Entry]:
    """Return *events* as what may answer *query*, with the words of their neighbours at their share.

    *own* holds the vectors of the first of *events*; the others borrow the similarity of the nearest of *memories*
    that cites them, or have none.
    """
    words = {one.source: lexical.words(citing.line(one.event)) for one in events}
    known = dict(zip((one.source for one in events), vectors.similarities(query.vector, own), strict=False))
    near = _borrowed(memories) | known
    return [Entry(one, _with_neighbours(one, words), near.get(one.source)) for one in events if words[one.source]]


def _with_neighbours(one: RawEvent, words: Mapping[tuple[str, int], Words]) -> Words:
    sid, seq = one.source
    beside = (words[near] for near in ((sid, seq - 1), (sid, seq + 1)) if near in words)
    return lexical.beside(words[one.source], *((NEIGHBOUR, other) for other in beside))


def _borrowed(memories: Sequence[Entry]) -> dict[tuple[str, int], float]:
    """Return the similarity of the nearest memory that cites an event, by the event's place."""
    near: dict[tuple[str, int], float] = {}
    for entry in memories:
        if entry.similarity is not None:
            for place in cited_places(entry.what):
                near[place] = max(entry.similarity, near.get(place, entry.similarity))
    return near


def cited_places(what: Memory | RawEvent) -> Iterator[tuple[str, int]]:
    """Yield stream and number of each event that a memory cites; an event cites none."""
    for found in what.evidence if isinstance(what, Memory) else ():
        for seq in found.seqs:
            yield found.sid, seq


def ranked(query: str, entries: Sequence[Entry]) -> list[Hit]:
    """Return *entries* with their distance from *query*, nearest first; ties by the newer one, then by id.

    Where no entry shares a word with the query, meaning alone decides.
    """
    shares: Sequence[float | None] | None = lexical.shares(query, [entry.words for entry in entries])
    scored = [
        (vectors.distance(fusion.fused(share, entry.similarity)), entry)
        for share, entry in zip(shares or [None] * len(entries), entries, strict=True)
    ]
    scored.sort(key=lambda pair: (pair[0], *pair[1].precedence()))
    return [(distance, entry.what) for distance, entry in scored]


def without_cited(hits: Sequence[Hit]) -> Iterator[Hit]:
    """Yield *hits* without the events that a better memory among them cites already."""
    told: set[tuple[str, int]] = set()
    for distance, what in hits:
        told.update(cited_places(what))
        if isinstance(what, Memory) or what.source not in told:
            yield distance, what
