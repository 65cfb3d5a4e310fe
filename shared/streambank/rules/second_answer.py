"""The steps of a plan: what the first answer proposed, and what the second one decided about what was doubtful.

No answer deletes by itself: forgetting needs both. Whatever an answer leaves out, no fact is lost without a verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from streambank.model.decision import Action, Decision
from streambank.model.extraction import FactChange
from streambank.model.memory import Memory
from streambank.model.plan import Candidate, PlanStep
from streambank.model.rule import WindowSettings
from streambank.model.verdict import NEW, RESTATED, Verdict
from streambank.rules import consolidation, wording
from streambank.rules.consolidation import NOTHING_TO_FORGET
from streambank.rules.grounding import MAX_FACT_BYTES, REPEATED
from streambank.rules.proposals import FACT_DOUBT, Proposal

NOT_CONFIRMED = "its words are in no turn, and the model did not confirm it"
NOT_KEPT = "not worth keeping"
FORGOTTEN = "asked to forget"
CHANGED = "changed"
MERGED = "became part of another memory"


@dataclass(frozen=True, slots=True)
class SecondAnswer:
    """The decisions about facts by the index of their proposal, and the memories whose numbers they name, from 1.

    *known* holds the texts behind a fact, by the index of its proposal: the turns that it cites.
    """

    decisions: Mapping[int, Sequence[Decision]] = field(default_factory=dict)
    memories: Sequence[Memory] = ()
    known: Mapping[int, Sequence[str]] = field(default_factory=dict)
    indexes: Mapping[int, int] = field(default_factory=dict)  # of proposals, by the numbers of the request


def steps(proposals: Sequence[Proposal], answer: SecondAnswer, settings: WindowSettings) -> list[PlanStep]:
    """Return the step of each proposal, in order; *answer* has decisions about those that are doubtful."""
    plan = _Planner(answer, settings)
    made: list[PlanStep | None] = [plan.step(number, proposal) for number, proposal in enumerate(proposals)]
    return plan.with_equal_facts(proposals, made)


@dataclass(slots=True)
class _Planner:
    """Makes the steps in order; *texts* are those of the memories that earlier steps changed."""

    answer: SecondAnswer
    settings: WindowSettings
    texts: dict[str, str] = field(default_factory=dict)

    def step(self, number: int, proposal: Proposal) -> PlanStep | None:
        """Return the step of a proposal, or None where the answer says that another fact says the same."""
        if proposal.candidate.rejected:
            return consolidation.create_step(proposal.candidate)
        if not proposal.doubts:
            return self._as_proposed(proposal)
        decisions = self.answer.decisions.get(number, ())
        if any(one.same_as is not None for one in decisions if one.action is Action.NONE):
            return None
        decided = [step for one in decisions for step in self._decided(number, proposal, one)]
        return _joined(decided) if decided else self._left_out(proposal)

    def with_equal_facts(self, proposals: Sequence[Proposal], made: Sequence[PlanStep | None]) -> list[PlanStep]:
        """Return *made* with the steps of facts that repeat another one: their sources go to that one."""
        result = list(made)
        for number, (proposal, step) in enumerate(zip(proposals, made, strict=True)):
            if step is not None:
                continue
            target = self._equal_fact(number)
            other = made[target] if target is not None else None
            if target is not None and other is not None and other.verdict is not Verdict.REJECTED:
                now = result[target] or other
                result[target] = replace(now, seqs=tuple(sorted({*now.seqs, *proposal.candidate.seqs})))
                result[number] = PlanStep(Verdict.REJECTED, reason=REPEATED)
            else:
                result[number] = self._left_out(proposal)
        return [step for step in result if step is not None]

    def _equal_fact(self, number: int) -> int | None:
        named = [one.same_as for one in self.answer.decisions.get(number, ()) if one.same_as is not None]
        return self.answer.indexes.get(named[0]) if named else None

    def _as_proposed(self, proposal: Proposal) -> PlanStep:
        candidate = proposal.candidate
        if proposal.change is FactChange.REPEATS:
            return consolidation.restate_step(candidate, proposal.memories[0], self.settings)
        if proposal.change is FactChange.CHANGES:
            return self._update(candidate, proposal.memories[0], proposal.text, CHANGED)
        return consolidation.create_step(candidate)

    def _left_out(self, proposal: Proposal) -> PlanStep:
        """Return what the first answer says, less what is destructive, for a fact without a usable second answer."""
        if proposal.is_forgetting:
            return PlanStep(Verdict.REJECTED, reason=NOTHING_TO_FORGET)
        if FACT_DOUBT in proposal.doubts:
            return PlanStep(Verdict.REJECTED, reason=NOT_CONFIRMED)
        if not proposal.memories:
            return consolidation.create_step(proposal.candidate)
        return self._as_proposed(proposal)

    def _decided(self, number: int, proposal: Proposal, decision: Decision) -> list[PlanStep]:
        """Return the steps of one decision, none where it cannot be followed."""
        memories = [self.answer.memories[one - 1] for one in dict.fromkeys(decision.memories) if self._is_number(one)]
        proposal = _as_decided(proposal, decision)
        if proposal.is_forgetting:
            return self._forgetting(number, proposal, decision, memories)
        match decision.action:
            case Action.NONE if memories:
                reason = decision.reason or RESTATED
                return [consolidation.restate_step(proposal.candidate, one, self.settings, reason) for one in memories]
            case Action.NONE:
                return [PlanStep(Verdict.REJECTED, reason=decision.reason or NOT_KEPT)]
            case Action.CREATE:
                text = decision.text if self._is_usable(number, proposal, decision.text or "", memories) else None
                return [consolidation.create_step(proposal.candidate, text, decision.reason or NEW)]
            case Action.UPDATE if memories:
                return self._updates(number, proposal, decision, memories)
        return []

    def _is_number(self, number: int) -> bool:
        return 0 < number <= len(self.answer.memories)

    def _forgetting(
        self, number: int, proposal: Proposal, decision: Decision, memories: Sequence[Memory]
    ) -> list[PlanStep]:
        """Return the steps of a request to forget: it never becomes a memory of its own."""
        candidate, reason = proposal.candidate, decision.reason
        if decision.action is Action.DELETE:
            return [consolidation.delete_step(candidate, one, reason or FORGOTTEN) for one in memories]
        if decision.action is Action.UPDATE and len(memories) == 1:
            text = decision.text or ""
            if self._is_usable(number, proposal, text, memories):
                return [consolidation.update_step(candidate, memories[0], text, reason or FORGOTTEN, self.settings)]
        return []

    def _updates(
        self, number: int, proposal: Proposal, decision: Decision, memories: Sequence[Memory]
    ) -> list[PlanStep]:
        candidate, reason = proposal.candidate, decision.reason or CHANGED
        text = decision.text or candidate.fact
        if not self._is_usable(number, proposal, text, memories):
            return [consolidation.create_step(candidate)]
        first, *others = memories
        step = self._update(candidate, first, text, reason)
        if step.memory_id != first.id or step.verdict is Verdict.REJECTED:
            return [step]
        merged = [one for one in others if wording.keeps(text, self._text_of(one)) and candidate.at >= one.as_of]
        return [step, *(PlanStep(Verdict.DELETED, one.id, reason=MERGED, merged_into=first.id) for one in merged)]

    def _update(self, candidate: Candidate, memory: Memory, text: str, reason: str) -> PlanStep:
        """Return the step that changes *memory*, unless it would lose what an earlier fact of the window changed."""
        if memory.id in self.texts and not wording.keeps(text, self.texts[memory.id]):
            return consolidation.create_step(candidate)
        step = consolidation.update_step(candidate, memory, text, reason, self.settings)
        if step.verdict is Verdict.UPDATED and step.text:
            self.texts[memory.id] = step.text
        return step

    def _text_of(self, memory: Memory) -> str:
        return self.texts.get(memory.id, memory.fact)

    def _is_usable(self, number: int, proposal: Proposal, text: str, memories: Iterable[Memory]) -> bool:
        """Tell whether *text* is within a fact's limits, and its names and numbers are in what stands behind it."""
        known = [
            proposal.candidate.fact,
            *self.answer.known.get(number, ()),
            *(self._text_of(one) for one in (*memories, *proposal.memories)),
        ]
        is_short = 0 < len(text.strip().encode()) <= MAX_FACT_BYTES
        return is_short and not wording.unsupported(text, known)


def _as_decided(proposal: Proposal, decision: Decision) -> Proposal:
    """Return *proposal* with what the second answer says of the fact's time, where it says anything."""
    candidate = proposal.candidate
    validity = candidate.validity if decision.validity.is_open else decision.validity
    is_correction = candidate.is_correction or decision.is_correction
    return replace(proposal, candidate=replace(candidate, validity=validity, is_correction=is_correction))


def _joined(made: Sequence[PlanStep]) -> PlanStep:
    """Return the steps of one candidate as one: each memory once, and without refusals where something is done.

    What belongs to the past of a memory comes last.
    """
    distinct = {step.memory_id or f"new {step.text}": step for step in reversed(made)}
    unique = list(reversed(distinct.values()))
    done = [step for step in unique if step.verdict is not Verdict.REJECTED]
    effective = [*done, *(step for step in unique if step.is_late)] or unique[:1]
    first, *others = effective
    return replace(first, others=tuple(others))
