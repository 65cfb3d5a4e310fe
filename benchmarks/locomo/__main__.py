"""`python -m benchmarks.locomo --data locomo10.json`: prints the tables, an hour later."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path

import httpx

from benchmarks.locomo import scoring
from benchmarks.locomo.conversations import load
from benchmarks.locomo.playing import Player
from benchmarks.locomo.recall import CUTS, Recall, averaged, held_out, recall
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


def report(data: Path, every: int = 1) -> Iterator[str]:
    """Yield the lines of the report; each *every*-th question is asked."""
    with (
        LocalService(timer_enabled=False) as service,
        httpx.Client(base_url=service.base_url, headers={"authorization": "Bearer local"}, timeout=60) as client,
    ):
        asked = [replace(one, questions=one.questions[::every]) for one in load(data)]
        players = [Player(service, client, number, one) for number, one in enumerate(asked)]
        for player in players:
            player.tell()
        yield from _counts(players)
        yield from _over_http(players)
        yield from _by_rules(players)


def _counts(players: list[Player]) -> Iterator[str]:
    turns = sum(len(player.conversation.turns) for player in players)
    questions = sum(len(player.conversation.questions) for player in players)
    memories = [player.memories() for player in players]
    yield f"{turns} turns, {questions} questions with evidence, {sum(map(len, memories))} memories"
    cited = [set().union(*map(set, map(player.cited, known))) for player, known in zip(players, memories, strict=True)]
    observed = [player.conversation.observed for player in players]
    both = sum(len(ours & theirs) for ours, theirs in zip(cited, observed, strict=True))
    base = sum(map(len, observed)) / turns
    yield (
        f"turns that memories cite against those that LoCoMo's observations cite: precision "
        f"{both / sum(map(len, cited)):.2f}, coverage {both / sum(map(len, observed)):.2f} (base rate {base:.2f})"
    )


def _over_http(players: list[Player]) -> Iterator[str]:
    yield _heading("over HTTP, constants as shipped")
    for name, events in (("memories and events", True), ("memories alone", False)):
        found = [
            recall(player.found(question.text, CUTS[-1], events=events), question.evidence)
            for player in players
            for question in player.conversation.questions
        ]
        yield _row(name, averaged(found))


def _by_rules(players: list[Player]) -> Iterator[str]:
    found = _recalls(players)
    rankings = sorted({name for name, _ in found})
    yield _heading(f"the same rules over what was stored, words at {score_fusion.WORD_WEIGHT}")
    for name in rankings:
        yield _row(name, averaged(chain.from_iterable(found[name, score_fusion.WORD_WEIGHT])))
    for title, name, weight in _BASELINES:
        yield _row(title, averaged(chain.from_iterable(found[name, weight])))
    yield _heading("held out: mean of 20 splits, weight tuned on the other five")
    for name in rankings:
        scored, weights = held_out({weight: found[name, weight] for weight in WEIGHTS})
        yield _row(f"{name} ({min(weights)} to {max(weights)})", scored)
    for title, name, weight in _BASELINES:
        yield _row(title, held_out({weight: found[name, weight]})[0])


def _recalls(players: list[Player]) -> Recalls:
    """Return for each ranking and weight the recalls of each conversation's questions."""
    embedder = WordLlamaEmbedder()
    found: Recalls = defaultdict(lambda: [[] for _ in players])
    for player in players:
        for name, weight, one in scoring.recalls(scoring.remembered(player, embedder), embedder):
            found[name, weight][player.number].append(one)
    return found


def _heading(text: str) -> str:
    return f"\n{text:60}" + "".join(f"{f'@{cut}':>7}" for cut in CUTS)


def _row(name: str, values: Recall) -> str:
    return f"{name:60}" + "".join(f"{100 * value:>7.1f}" for value in values)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.locomo", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="locomo10.json")
    parser.add_argument("--every", type=int, default=1, help="ask only each so-manieth question")
    asked = parser.parse_args()
    for line in report(asked.data, asked.every):
        print(line, flush=True)


if __name__ == "__main__":
    main()
