"""Precision, recall and the counts of wrong memories, over the cases of a kind or over all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from streambank_local.evaluation.judging import Judgement


@dataclass(frozen=True, slots=True)
class Score:
    """The sums over some cases; *right* are the memories that a case wants or allows, *held* its wanted facts."""

    name: str
    cases: int
    met: int
    memories: int
    right: int
    expected: int
    held: int
    forbidden: int
    outdated: int

    @property
    def precision(self) -> float | None:
        """Return the share of memories that are wanted, None where there are no memories."""
        return self.right / self.memories if self.memories else None

    @property
    def recall(self) -> float | None:
        """Return the share of wanted facts that are memories, None where nothing is wanted."""
        return self.held / self.expected if self.expected else None

    @property
    def share_met(self) -> float:
        """Return the share of cases that are fully met, 0 without cases."""
        return self.met / self.cases if self.cases else 0.0


def score(name: str, judgements: Sequence[Judgement]) -> Score:
    """Return the score of *judgements*."""
    expected = sum(len(one.case.expected) for one in judgements)
    memories = sum(len(one.facts) for one in judgements)
    return Score(
        name,
        cases=len(judgements),
        met=sum(one.is_met for one in judgements),
        memories=memories,
        right=memories - sum(len(one.surplus) for one in judgements),
        expected=expected,
        held=expected - sum(len(one.missing) for one in judgements),
        forbidden=sum(len(one.forbidden) for one in judgements),
        outdated=sum(len(one.outdated) for one in judgements),
    )


def by_kind(judgements: Sequence[Judgement]) -> list[Score]:
    """Return the score of each kind, in the order of the cases."""
    kinds = dict.fromkeys(one.case.kind for one in judgements)
    return [score(kind, [one for one in judgements if one.case.kind == kind]) for kind in kinds]
