"""The report of an evaluation, as text and as one JSON document."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from streambank_local.evaluation import scores
from streambank_local.evaluation.judging import Judgement
from streambank_local.evaluation.playing import CaseUsage
from streambank_local.evaluation.scores import Score

_HEADING = f"{'':28}{'cases':>7}{'met':>6}{'precision':>11}{'recall':>9}{'forbidden':>11}{'outdated':>10}"


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The judgements on one model's cases, what they cost, and the reasons of cases that were not played, by id."""

    model: str
    judgements: Sequence[Judgement]
    usage: CaseUsage
    seconds: float
    not_played: Mapping[str, str]

    @property
    def total(self) -> Score:
        """Return the score over all cases."""
        return scores.score("all", self.judgements)

    @property
    def wrong(self) -> list[Judgement]:
        """Return the judgements on cases that are not met."""
        return [one for one in self.judgements if not one.is_met]


def as_text(evaluation: Evaluation) -> str:
    """Return the tables, then the wrong cases."""
    return "\n".join(_lines(evaluation))


def _lines(evaluation: Evaluation) -> Iterator[str]:
    yield f"model: {evaluation.model}"
    yield ""
    yield _HEADING
    yield from map(_row, [*scores.by_kind(evaluation.judgements), evaluation.total])
    yield ""
    yield _costs(evaluation)
    for case_id, reason in evaluation.not_played.items():
        yield f"not played: {case_id}: {reason}"
    for judgement in evaluation.wrong:
        yield ""
        yield from _wrong(judgement)


def _row(score: Score) -> str:
    return (
        f"{score.name:28}{score.cases:>7}{score.met:>6}{_share(score.precision):>11}{_share(score.recall):>9}"
        f"{score.forbidden:>11}{score.outdated:>10}"
    )


def _share(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"


def _costs(evaluation: Evaluation) -> str:
    usage = evaluation.usage
    cost = f"${usage.cost_usd:.4f}" if usage.cost_usd else "no price known"
    return (
        f"{usage.model_calls} model calls, {usage.input_tokens} tokens in, {usage.output_tokens} out, "
        f"{usage.embedding_tokens} embedded, {cost}, {evaluation.seconds:.1f} seconds"
    )


def _wrong(judgement: Judgement) -> Iterator[str]:
    yield f"{judgement.case.kind}/{judgement.case.id}: {judgement.case.why}"
    yield f"  wanted  {'; '.join(' or '.join(one) for one in judgement.case.expected) or 'nothing'}"
    yield f"  made    {'; '.join(judgement.facts) or 'nothing'}"
    for fault in judgement.faults:
        yield f"  wrong   {fault}"


def as_json(evaluation: Evaluation) -> str:
    """Return the same as one JSON document."""
    document = {
        "model": evaluation.model,
        "kinds": [_score(one) for one in scores.by_kind(evaluation.judgements)],
        "total": _score(evaluation.total),
        "usage": asdict(evaluation.usage),
        "seconds": round(evaluation.seconds, 3),
        "not_played": dict(evaluation.not_played),
        "wrong": [_wrong_document(one) for one in evaluation.wrong],
    }
    return json.dumps(document, ensure_ascii=False, indent=2)


def _score(score: Score) -> dict[str, Any]:
    return {**asdict(score), "precision": score.precision, "recall": score.recall}


def _wrong_document(judgement: Judgement) -> dict[str, Any]:
    return {
        "case": judgement.case.id,
        "kind": judgement.case.kind,
        "why": judgement.case.why,
        "wanted": judgement.case.expected,
        "made": judgement.facts,
        "forbidden": judgement.forbidden,
        "outdated": judgement.outdated,
        "faults": judgement.faults,
    }
