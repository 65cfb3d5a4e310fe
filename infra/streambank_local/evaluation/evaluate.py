"""Plays the cases that have no result yet, and judges all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from streambank_local.evaluation.cases import Case
from streambank_local.evaluation.judging import judged
from streambank_local.evaluation.models import EvaluatedModel
from streambank_local.evaluation.playing import CaseUsage, ModelAway, player
from streambank_local.evaluation.report import Evaluation
from streambank_local.evaluation.results import Results

# After so many cases in a row without an answer, the rest would not get one either.
_MOST_AWAY_IN_A_ROW = 3


@dataclass(slots=True)
class Run:
    """One run over *cases*; `not_played` grows while it lasts, and `was_given_up` tells that the model stayed away."""

    model: EvaluatedModel
    cases: Sequence[Case]
    results: Results
    progress: Callable[[str], None]
    not_played: dict[str, str] = field(default_factory=dict)
    was_given_up: bool = False

    def play(self) -> None:
        """Play every case without a result; each result is stored as its case ends."""
        known = self.results.load()
        missing = [case for case in self.cases if case.fingerprint not in known]
        if missing:
            self._play(missing)

    def evaluation(self) -> Evaluation:
        """Return the evaluation of all cases that have a result, whichever run played them."""
        known = self.results.load()
        played = [(case, known[case.fingerprint]) for case in self.cases if case.fingerprint in known]
        return Evaluation(
            self.model.name,
            [judged(case, one.after, one.failure) for case, one in played],
            sum((one.usage for _, one in played), CaseUsage()),
            sum(one.seconds for _, one in played),
            self.not_played,
        )

    def _play(self, missing: Sequence[Case]) -> None:
        away_in_a_row = 0
        with player(self.model.provider, prices=self.model.prices) as playing:
            for number, case in enumerate(missing, 1):
                self.progress(f"{number} of {len(missing)}: {case.kind}/{case.id}")
                try:
                    self.results.append(case, playing.play(case))
                    away_in_a_row = 0
                except ModelAway as reason:
                    self.results.append_not_played(case, str(reason))
                    self.not_played[case.id] = str(reason)
                    away_in_a_row += 1
                if away_in_a_row == _MOST_AWAY_IN_A_ROW:
                    self.was_given_up = True
                    return
