"""What the service's own rules make of a conversation that it remembers, at several weights and beside baselines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import boto3

from benchmarks.locomo.conversations import Conversation, Question
from benchmarks.locomo.playing import Player
from benchmarks.locomo.recall import CUTS, Recall, recall
from streambank.llm.ports import Embedder
from streambank.model.memory import Citation, Memory
from streambank.model.search import RawEvent
from streambank.rules import citing, fusion, lexical, searching
from streambank.rules.searching import Entry, Query
from streambank.store.events import Events
from streambank.store.memories import Memories
from streambank.store.table import RetryPolicy, Table

# The share of words in the score, beside that of meaning.
WEIGHTS = (0.5, 0.6, 0.7, fusion.WORDS, 0.8, 0.9)
MEANING, WORDS = 0.0, 1.0


@dataclass(frozen=True)
class Remembered:
    """A conversation as the table holds it, with the vectors of its events."""

    conversation: Conversation
    memories: Sequence[Memory]
    cited: dict[str, list[Citation]]
    events: Sequence[RawEvent]
    vectors: Sequence[bytes]

    @cached_property
    def words(self) -> dict[tuple[str, int], lexical.Words]:
        """Return the words of each event alone, by its place."""
        return {one.place: lexical.words(citing.line(one.event)) for one in self.events}


def remembered(player: Player, embedder: Embedder) -> Remembered:
    """Return what the service has stored of a conversation."""
    table = _table(player)
    now, memories = datetime.now(UTC), Memories(table)
    known = memories.of_scope("default", player.scope, now=now)
    cited = memories.citations("default", player.scope, known, now=now)
    events = Events(table).of_scope("default", player.scope, pending_only=False, now=now).events
    vectors = embedder.embed([citing.line(one.event) for one in events])
    return Remembered(player.conversation, known, cited, events, vectors)


def _table(player: Player) -> Table:
    client: Any = boto3.client("dynamodb", region_name="us-east-1")
    return Table(client, player.service.stack.table_name, RetryPolicy(lambda _: None, lambda: 0.0))


def entries(query: Query, known: Remembered) -> dict[str, list[Entry]]:
    """Return what takes part in each ranking for *query*, by the ranking's name."""
    memories = searching.of_memories(query, known.memories, known.cited)
    embedded = searching.of_events(query, known.events, known.vectors, memories)
    borrowing = searching.of_events(query, known.events, (), memories)
    return {
        "memories and events": memories + embedded,
        "the same, events not embedded": memories + borrowing,
        "memories alone": memories,
        "raw turns": [_alone(one, known) for one in embedded],
        "raw turns with neighbours": embedded,
    }


def _alone(entry: Entry, known: Remembered) -> Entry:
    return replace(entry, words=known.words[entry.what.source]) if isinstance(entry.what, RawEvent) else entry


def recalls(known: Remembered, embedder: Embedder) -> Iterator[tuple[str, float, Recall]]:
    """Yield for each question, ranking and weight the recall."""
    questions = known.conversation.questions
    embedded = embedder.embed([question.text for question in questions], for_query=True)
    for question, vector in zip(questions, embedded, strict=True):
        query = Query(question.text, vector)
        for name, ranked in entries(query, known).items():
            shares = lexical.shares(query.text, [entry.words for entry in ranked])
            for weight in (MEANING, *WEIGHTS, WORDS):
                yield name, weight, _recall(question, known, ranked, shares, weight)


def _recall(
    question: Question, known: Remembered, entries: Sequence[Entry], shares: Sequence[float] | None, weight: float
) -> Recall:
    parts = zip(shares or [None] * len(entries), entries, strict=True)
    scored = [(-fusion.fused(share, entry.similarity, words=weight), entry) for share, entry in parts]
    scored.sort(key=lambda pair: (pair[0], *pair[1].precedence()))
    hits = searching.without_cited([(score, entry.what) for score, entry in scored[: 10 * CUTS[-1]]])
    turns = [_turns(what, known.conversation) for (_, what), _ in zip(hits, range(CUTS[-1]), strict=False)]
    return recall(turns, question.evidence)


def _turns(what: Memory | RawEvent, conversation: Conversation) -> set[str]:
    places = searching.cited_places(what) if isinstance(what, Memory) else [what.place]
    return {conversation.turns[seq - 1].id for _, seq in places}
