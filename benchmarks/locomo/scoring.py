"""Recall of the service's own search rules over a stored conversation, at several weights and for baselines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import boto3

from benchmarks.locomo.conversation_client import ConversationClient
from benchmarks.locomo.conversations import Conversation, Question
from benchmarks.locomo.recall import CUTS, Recall, recall
from streambank.llm.ports import Embedder
from streambank.model.memory import Citation, Memory
from streambank.model.search import RawEvent
from streambank.retry import RetryPolicy
from streambank.rules import bm25, citations, score_fusion, search_ranking
from streambank.rules.search_ranking import EmbeddedQuery, SearchEntry
from streambank.store.events import Events
from streambank.store.memories import Memories
from streambank.store.table import Table

# The share of words in the score, beside that of meaning.
WEIGHTS = (0.5, 0.6, 0.7, score_fusion.WORD_WEIGHT, 0.8, 0.9)
MEANING, WORDS = 0.0, 1.0


@dataclass(frozen=True)
class StoredConversation:
    """A stored conversation, with the vectors of its events."""

    conversation: Conversation
    memories: Sequence[Memory]
    cited: dict[str, list[Citation]]
    events: Sequence[RawEvent]
    vectors: Sequence[bytes]

    @cached_property
    def words(self) -> dict[tuple[str, int], bm25.WordCounts]:
        """Return the words of each event without its neighbours, by its place."""
        return {one.source: bm25.count_words(citations.event_line(one.event)) for one in self.events}


def load_stored(client: ConversationClient, embedder: Embedder) -> StoredConversation:
    """Read a conversation from the service's table."""
    table = _table(client)
    now, memories = datetime.now(UTC), Memories(table)
    stored = memories.of_scope("default", client.scope, now=now)
    cited = memories.citations("default", client.scope, stored, now=now)
    events = Events(table).of_scope("default", client.scope, pending_only=False, now=now).events
    vectors = embedder.embed([citations.event_line(one.event) for one in events])
    return StoredConversation(client.conversation, stored, cited, events, vectors)


def _table(client: ConversationClient) -> Table:
    dynamodb: Any = boto3.client("dynamodb", region_name="us-east-1")
    return Table(dynamodb, client.service.stack.table_name, RetryPolicy(lambda _: None, lambda: 0.0))


def entries(query: EmbeddedQuery, stored: StoredConversation) -> dict[str, list[SearchEntry]]:
    """Return the entries of each ranking for *query*, by the ranking's name."""
    memories = search_ranking.memory_entries(query, stored.memories, stored.cited)
    embedded = search_ranking.event_entries(query, stored.events, stored.vectors, memories)
    borrowing = search_ranking.event_entries(query, stored.events, (), memories)
    return {
        "memories and events": memories + embedded,
        "the same, events not embedded": memories + borrowing,
        "memories alone": memories,
        "raw turns": [_without_neighbours(one, stored) for one in embedded],
        "raw turns with neighbours": embedded,
    }


def _without_neighbours(entry: SearchEntry, stored: StoredConversation) -> SearchEntry:
    return replace(entry, words=stored.words[entry.item.source]) if isinstance(entry.item, RawEvent) else entry


def recalls(stored: StoredConversation, embedder: Embedder) -> Iterator[tuple[str, float, Recall]]:
    """Yield the recall for each question, ranking and weight."""
    questions = stored.conversation.questions
    embedded = embedder.embed([question.text for question in questions], for_query=True)
    for question, vector in zip(questions, embedded, strict=True):
        query = EmbeddedQuery(question.text, vector)
        for name, ranked in entries(query, stored).items():
            shares = bm25.shares(query.text, [entry.words for entry in ranked])
            for weight in (MEANING, *WEIGHTS, WORDS):
                yield name, weight, _recall(question, stored, ranked, shares, weight)


def _recall(
    question: Question,
    stored: StoredConversation,
    entries: Sequence[SearchEntry],
    shares: Sequence[float] | None,
    weight: float,
) -> Recall:
    parts = zip(shares or [None] * len(entries), entries, strict=True)
    fused = ((score_fusion.fuse(share, entry.similarity, words=weight), entry) for share, entry in parts)
    scored = search_ranking.order_by_score(fused)
    hits = search_ranking.drop_cited_events([(score, entry.item) for score, entry in scored[: 10 * CUTS[-1]]])
    turns = [_turns(what, stored.conversation) for (_, what), _ in zip(hits, range(CUTS[-1]), strict=False)]
    return recall(turns, question.evidence, stored.conversation.sessions)


def _turns(what: Memory | RawEvent, conversation: Conversation) -> set[str]:
    sources = search_ranking.cited_events(what) if isinstance(what, Memory) else [what.source]
    return {conversation.turns[seq - 1].id for _, seq in sources}
