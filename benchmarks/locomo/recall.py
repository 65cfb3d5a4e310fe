"""Recall at k, the sessions of results, and the mean over fixed splits of ten conversations into five and five."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from statistics import mean
from typing import TypeAlias

CUTS = (5, 10, 20)
# Of so many results the sessions are counted.
SESSIONS_AT = 5
SPLITS = 20
TUNED_AT = 10

# The recall at each cut, then the share of the evidence's sessions, and the number of sessions.
Recall: TypeAlias = tuple[float, ...]
# For each weight of a grid, the recalls of each conversation's questions.
Grid: TypeAlias = Mapping[float, Sequence[Sequence[Recall]]]


def recall(results: Sequence[Iterable[str]], evidence: frozenset[str], sessions: Mapping[str, int]) -> Recall:
    """Return what the first results have of *evidence*; a result counts as all turns that it cites.

    *sessions* has the session of each turn.
    """
    of_evidence = {sessions[turn] for turn in evidence}
    touched = {sessions[turn] for one in results[:SESSIONS_AT] for turn in one}
    at_cuts = (len(evidence & {turn for one in results[:cut] for turn in one}) / len(evidence) for cut in CUTS)
    return (*at_cuts, len(of_evidence & touched) / len(of_evidence), len(touched))


def splits(conversations: int = 10) -> list[tuple[list[int], list[int]]]:
    """Return twenty fixed halves: those to tune on, and those to score on."""
    chance = random.Random(20)  # any seed, but always the same
    halves = [chance.sample(range(conversations), conversations // 2) for _ in range(SPLITS)]
    return [(half, [one for one in range(conversations) if one not in half]) for half in halves]


def average(recalls: Iterable[Recall]) -> Recall:
    """Return the mean over questions."""
    return tuple(map(mean, zip(*recalls, strict=True)))


def held_out(grid: Grid) -> tuple[Recall, list[float]]:
    """Return the mean recall over the splits, each at the weight that was best on its other half, and these weights."""
    scored, weights = [], []
    for tuned_on, scored_on in splits():
        best = max(grid, key=lambda weight: _average_of(grid[weight], tuned_on)[CUTS.index(TUNED_AT)])
        weights.append(best)
        scored.append(_average_of(grid[best], scored_on))
    return average(scored), weights


def _average_of(recalls: Sequence[Sequence[Recall]], conversations: Iterable[int]) -> Recall:
    return average(one for number in conversations for one in recalls[number])
