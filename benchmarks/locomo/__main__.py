"""`python -m benchmarks.locomo --data locomo10.json`: prints the tables; this takes an hour."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path

import httpx

from benchmarks.locomo import scoring
from benchmarks.locomo.conversation_client import ConversationClient
from benchmarks.locomo.conversations import load
from benchmarks.locomo.recall import CUTS, SESSIONS_AT, Recall, average, held_out, recall
from benchmarks.locomo.scoring import MEANING, WEIGHTS, WORDS
from streambank.rules import score_fusion
from streambank_local.basic.embedder import WordLlamaEmbedder
from streambank_local.service import LocalService

Recalls = dict[tuple[str, float], list[list[Recall]]]
_BASELINES = (
    ("raw turns, meaning alone", "raw turns", MEANING),
    ("raw turns, words alone (BM25)", "raw turns", WORDS),
    ("raw turns with neighbours, words alone", "raw turns with neighbours", WORDS),
)


def report(data: Path, every: int = 1, joined: int = 1) -> Iterator[str]:
    """Yield the lines of the report; each *every*-th question is used, and *joined* turns are one."""
    with (
        LocalService(timer_enabled=False) as service,
        httpx.Client(base_url=service.base_url, headers={"authorization": "Bearer local"}, timeout=60) as http,
    ):
        conversations = [replace(one, questions=one.questions[::every]) for one in load(data, joined)]
        clients = [ConversationClient(service, http, number, one) for number, one in enumerate(conversations)]
        for client in clients:
            client.ingest()
        yield from _counts(clients)
        yield from _over_http(clients)
        yield from _by_rules(clients)


def _counts(clients: list[ConversationClient]) -> Iterator[str]:
    turns = sum(len(client.conversation.turns) for client in clients)
    questions = sum(len(client.conversation.questions) for client in clients)
    memories = [client.memories() for client in clients]
    yield f"{turns} turns, {questions} questions with evidence, {sum(map(len, memories))} memories"
    cited = [
        set().union(*map(set, map(client.cited_turns, stored)))
        for client, stored in zip(clients, memories, strict=True)
    ]
    observed = [client.conversation.observed for client in clients]
    both = sum(len(ours & theirs) for ours, theirs in zip(cited, observed, strict=True))
    base = sum(map(len, observed)) / turns
    yield (
        f"turns that memories cite against those that LoCoMo's observations cite: precision "
        f"{both / sum(map(len, cited)):.2f}, coverage {both / sum(map(len, observed)):.2f} (base rate {base:.2f})"
    )


def _over_http(clients: list[ConversationClient]) -> Iterator[str]:
    yield _heading("over HTTP, constants as shipped")
    for name, events in (("memories and events", True), ("memories alone", False)):
        recalls = [
            recall(
                client.search(question.text, CUTS[-1], events=events), question.evidence, client.conversation.sessions
            )
            for client in clients
            for question in client.conversation.questions
        ]
        yield _row(name, average(recalls))


def _by_rules(clients: list[ConversationClient]) -> Iterator[str]:
    by_ranking = _recalls(clients)
    rankings = sorted({name for name, _ in by_ranking})
    yield _heading(f"the same rules over what was stored, words at {score_fusion.WORD_WEIGHT}")
    for name in rankings:
        yield _row(name, average(chain.from_iterable(by_ranking[name, score_fusion.WORD_WEIGHT])))
    for title, name, weight in _BASELINES:
        yield _row(title, average(chain.from_iterable(by_ranking[name, weight])))
    yield _heading("held out: mean of 20 splits, weight tuned on the other five")
    for name in rankings:
        scored, weights = held_out({weight: by_ranking[name, weight] for weight in WEIGHTS})
        yield _row(f"{name} ({min(weights)} to {max(weights)})", scored)
    for title, name, weight in _BASELINES:
        yield _row(title, held_out({weight: by_ranking[name, weight]})[0])


def _recalls(clients: list[ConversationClient]) -> Recalls:
    """Return the recalls of each conversation's questions, for each ranking and weight."""
    embedder = WordLlamaEmbedder()
    by_ranking: Recalls = defaultdict(lambda: [[] for _ in clients])
    for client in clients:
        for name, weight, one in scoring.recalls(scoring.load_stored(client, embedder), embedder):
            by_ranking[name, weight][client.number].append(one)
    return by_ranking


def _heading(text: str) -> str:
    cuts = "".join(f"{f'@{cut}':>7}" for cut in CUTS)
    return f"\n{text:60}{cuts}  sessions of the evidence @{SESSIONS_AT}, sessions @{SESSIONS_AT}"


def _row(name: str, values: Recall) -> str:
    *shares, sessions = values
    return f"{name:60}" + "".join(f"{100 * value:>7.1f}" for value in shares) + f"{sessions:>7.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.locomo", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="locomo10.json")
    parser.add_argument("--every", type=int, default=1, help="use only each N-th question")
    parser.add_argument("--joined", type=int, default=1, help="make one long turn of each N turns of a session")
    options = parser.parse_args()
    for line in report(options.data, options.every, options.joined):
        print(line, flush=True)


if __name__ == "__main__":
    main()
