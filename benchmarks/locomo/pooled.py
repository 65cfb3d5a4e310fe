"""`python -m benchmarks.locomo.pooled --data locomo10.json`: a search by the index beside one of the whole scope.

All turns of all conversations are memories of one scope. The questions are every second one, which nothing was chosen
by. Candidates are the 100 entries whose vectors have the highest dot products with the query's, as a vector index
returns them; they are ranked as those of a small scope are.
"""

from __future__ import annotations

import argparse
import heapq
from array import array
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean

from benchmarks.locomo.conversations import load
from streambank.model.memory import Memory
from streambank.pipeline.memories.scope_reader import MAX_NEAREST, UNREAD_BESIDE_EACH
from streambank.rules import bm25, search_ranking, word_vectors
from streambank.rules.search_ranking import EmbeddedQuery
from streambank_local.basic.embedder import WordLlamaEmbedder
from streambank_local.emulator.dot_products import dot_products

CUTS = (5, 10, 20)
_AT = datetime(2026, 3, 1, tzinfo=UTC)


def report(data: Path, every: int = 2) -> Iterator[str]:
    """Yield the table; each *every*-th question is used."""
    memories, questions = _pooled(data)
    questions = questions[1::every]
    vectors = [array("f", word_vectors.text_vector(bm25.count_words(one.fact), one.vector)) for one in memories]
    queries = WordLlamaEmbedder().embed([text for text, _ in questions], for_query=True)
    rows: dict[str, list[list[float]]] = {"all memories": [], "candidates of the index": []}
    for (text, evidence), vector in zip(questions, queries, strict=True):
        scores = dot_products(array("f", word_vectors.query_vector(text, vector)), vectors)
        nearest = heapq.nlargest(MAX_NEAREST, range(len(memories)), key=scores.__getitem__)
        query, candidates = EmbeddedQuery(text, vector), [memories[at] for at in nearest]
        rows["all memories"].append(_recalls(query, memories, evidence))
        unread = UNREAD_BESIDE_EACH * len(candidates)
        rows["candidates of the index"].append(_recalls(query, candidates, evidence, unread))
    yield f"{len(memories)} turns in one scope, {len(questions)} questions"
    yield f"{'':28}" + "".join(f"{f'@{cut}':>8}" for cut in CUTS)
    for name, recalls in rows.items():
        yield f"{name:28}" + "".join(f"{100 * mean(at_cut):>8.1f}" for at_cut in zip(*recalls, strict=True))


def _pooled(data: Path) -> tuple[list[Memory], list[tuple[str, frozenset[str]]]]:
    """Return the turns as memories of one scope, and the questions with the ids of their evidence."""
    conversations = list(enumerate(load(data)))
    turns = [(f"{number} {turn.id}", turn.line) for number, one in conversations for turn in one.turns]
    vectors = WordLlamaEmbedder().embed([line for _, line in turns])
    memories = [
        Memory(name, line, {"user_id": "all"}, _AT, _AT, _AT, vector=vector)
        for (name, line), vector in zip(turns, vectors, strict=True)
    ]
    questions = [
        (question.text, frozenset(f"{number} {turn}" for turn in question.evidence))
        for number, one in conversations
        for question in one.questions
    ]
    return memories, questions


def _recalls(query: EmbeddedQuery, among: Sequence[Memory], evidence: frozenset[str], unread: int = 0) -> list[float]:
    """Return the share of the evidence among the first hits, for each of the cuts."""
    hits = search_ranking.rank(query.text, search_ranking.memory_entries(query, among, {}), unread)
    names = [one.id for _, one in hits[: CUTS[-1]] if isinstance(one, Memory)]
    return [len(evidence & set(names[:cut])) / len(evidence) for cut in CUTS]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--every", type=int, default=2, help="use each so many-th question")
    arguments = parser.parse_args()
    for line in report(arguments.data, arguments.every):
        print(line, flush=True)


if __name__ == "__main__":
    main()
