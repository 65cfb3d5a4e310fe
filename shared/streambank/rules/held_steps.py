"""The steps of a generation that wait for review: changes of pinned memories, and those that a bank's policy names."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from streambank.model.memory import Memory
from streambank.model.plan import Candidate, Plan, PlanStep
from streambank.model.review import ReviewCause, ReviewPolicy
from streambank.model.verdict import Verdict

PINNED = "waits for review: the memory is pinned"
POLICY = "waits for review: the bank's policy names it"
REASONS = {ReviewCause.PINNED: PINNED, ReviewCause.POLICY: POLICY}


@dataclass(frozen=True, slots=True)
class HeldStep:
    """Steps of one candidate that are one action, and why they wait."""

    steps: tuple[PlanStep, ...]
    cause: ReviewCause


def pinned_merges(plan: Plan, memories: Mapping[str, Memory]) -> frozenset[str]:
    """Return the ids of memories that *plan* merges others into, where any of them is pinned: nothing is merged there.

    A merge of many memories is divided among several candidates of the plan.
    """
    merges = [part for step in plan.steps for part in step.all if part.merged_into]
    return frozenset(
        part.merged_into
        for part in merges
        if _is_pinned(part.merged_into, memories) or _is_pinned(part.memory_id, memories)
    )


def held(
    candidate: Candidate,
    steps: Iterable[PlanStep],
    memories: Mapping[str, Memory],
    policy: ReviewPolicy,
    merges: Collection[str] = (),
) -> list[PlanStep | HeldStep]:
    """Return *steps* of *candidate*, those that must wait as held ones; *merges* are the `pinned_merges` of the plan.

    A pinned memory is never changed, deleted or merged: it takes further evidence alone. A *policy* without verdicts
    holds nothing else.
    """
    result = list[PlanStep | HeldStep]()
    for group in _actions(steps, memories):
        cause = _cause(candidate, group, memories, policy, merges)
        result += [HeldStep(group, cause)] if cause else [_as_evidence(step, memories) for step in group]
    return result


def _actions(steps: Iterable[PlanStep], memories: Mapping[str, Memory]) -> Iterator[tuple[PlanStep, ...]]:
    """Yield *steps* in groups that are one action each: a merge with all of its parts, any other step alone."""
    groups: dict[str, list[PlanStep]] = {}
    for number, step in enumerate(steps):
        name = step.merged_into if step.merged_into in memories else step.memory_id
        groups.setdefault(name or f"new {number}", []).append(step)
    return map(tuple, groups.values())


def _cause(
    candidate: Candidate,
    group: Sequence[PlanStep],
    memories: Mapping[str, Memory],
    policy: ReviewPolicy,
    merges: Collection[str],
) -> ReviewCause | None:
    changing = [step for step in group if _changes(step, memories)]
    if not changing:
        return None
    names = {one for step in group for one in (step.memory_id, step.merged_into) if one}
    if any(_is_pinned(one, memories) or one in merges for one in names):
        return ReviewCause.PINNED
    topics = {*candidate.topics, *(topic for one in names if one in memories for topic in memories[one].topics)}
    return ReviewCause.POLICY if policy.covers({step.verdict for step in changing}, topics) else None


def _changes(step: PlanStep, memories: Mapping[str, Memory]) -> bool:
    """Tell whether *step* makes or deletes a memory, or gives one another text."""
    memory = memories.get(step.memory_id or "")
    if step.verdict is Verdict.UPDATED:
        return memory is not None and step.text is not None and step.text != memory.fact
    return step.verdict in (Verdict.CREATED, Verdict.DELETED)


def _as_evidence(step: PlanStep, memories: Mapping[str, Memory]) -> PlanStep:
    """Return *step*, or where it would renew a pinned memory or its past, the step that does not."""
    if step.is_late and _is_pinned(step.memory_id, memories):
        return replace(step, text=None, vector=b"")
    if step.verdict is Verdict.UPDATED and _is_pinned(step.memory_id, memories):
        return replace(step, verdict=Verdict.UNCHANGED, text=None, vector=b"")
    return step


def _is_pinned(memory_id: str | None, memories: Mapping[str, Memory]) -> bool:
    memory = memories.get(memory_id or "")
    return memory is not None and memory.pinned


def refused(step: HeldStep, reason: str) -> list[PlanStep]:
    """Return the steps that record, in place of a held one, that nothing was done."""
    return [PlanStep(Verdict.REJECTED, one.memory_id, reason=reason) for one in step.steps]
