"""The second state of a generation: candidates meet the scope's memories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from streambank.errors import GenerationError
from streambank.llm.ports import (
    Action,
    Consolidation,
    ConsolidationRequest,
    Consolidator,
    Decision,
    Embedder,
    OfferedFact,
    OfferedMemory,
)
from streambank.model.memory import Memory
from streambank.model.plan import Candidate, Plan, Step
from streambank.model.verdict import Verdict
from streambank.model.window import Attempt, Window
from streambank.rules import consolidation, ranking
from streambank.store.memories import Memories
from streambank.store.plans import Plans
from streambank.store.windows import Windows


class Consolidating(StrEnum):
    """What the state machine is told."""

    PLANNED = "planned"
    LATE = "late"
    ERASING = "ERASING"


@dataclass(frozen=True, slots=True)
class _Judged:
    """Steps for a run of candidates, and what they cost."""

    steps: list[Step]
    calls: int = 0
    characters: int = 0


def consolidate(
    attempt: Attempt,
    *,
    windows: Windows,
    plans: Plans,
    memories: Memories,
    consolidator: Consolidator,
    embedder: Embedder,
    now: datetime,
) -> str:
    """Store a plan for the candidates of *attempt*'s window that are not committed yet; return the outcome.

    Outcomes: `planned`, `late`, `ERASING` (the scope is being erased; try later), or a `GenerationError`'s own.
    """
    window = windows.mine(attempt)
    extracted = plans.extracted(attempt) if window else None
    if window is None or extracted is None:
        return Consolidating.LATE
    view = memories.view(attempt.bank, window.stream.scope, now=now)
    if view.erasing:
        return Consolidating.ERASING
    rest = extracted.candidates[window.cursor :]
    near = ranking.offered(rest, ranking.eligible(view.memories, window.settings))
    offered = {memory.id: memory.mark for memory in near}
    try:
        judged = _still_valid(plans.plan(attempt), window, offered) or _judge(
            rest, near, window, consolidator, embedder
        )
    except GenerationError as error:
        return error.outcome
    plan = Plan(view.version, window.cursor, tuple(judged.steps), offered, judged.calls, judged.characters)
    return Consolidating.PLANNED if plans.save_plan(attempt, plan) else Consolidating.LATE


def _still_valid(plan: Plan | None, window: Window, offered: Mapping[str, str]) -> _Judged | None:
    """Return the steps of an older plan that hold at another version: what the model was shown is as it was."""
    if plan is None or plan.offered != offered or not plan.start <= window.cursor <= plan.start + len(plan.steps):
        return None
    return _Judged(list(plan.steps[window.cursor - plan.start :]), plan.calls, plan.characters)


def _judge(
    candidates: Sequence[Candidate],
    near: Sequence[Memory],
    window: Window,
    consolidator: Consolidator,
    embedder: Embedder,
) -> _Judged:
    """Ask the model, but only if there is something to ask: a candidate, and a memory near it."""
    open_ones = [candidate for candidate in candidates if not candidate.rejected]
    if not open_ones or not near or window.settings.disable_consolidation:
        return _Judged(_with_vectors(candidates, [consolidation.created(one) for one in candidates], embedder))
    answer = consolidator.consolidate(_request(open_ones, near))
    decisions = iter(_in_order(answer, len(open_ones)))
    steps = [
        consolidation.created(one) if one.rejected else _step(one, next(decisions), near, window) for one in candidates
    ]
    return _Judged(_with_vectors(candidates, steps, embedder), answer.usage.calls, answer.usage.characters)


def _request(candidates: Sequence[Candidate], near: Sequence[Memory]) -> ConsolidationRequest:
    facts = (
        OfferedFact(number, one.fact, one.topics[0] if one.topics else None, one.at)
        for number, one in enumerate(candidates, 1)
    )
    offered = (OfferedMemory(number, memory.fact, memory.as_of) for number, memory in enumerate(near, 1))
    return ConsolidationRequest(tuple(facts), tuple(offered))


def _in_order(answer: Consolidation, count: int) -> list[Decision | None]:
    """Return the first decision for each fact; a model may have skipped some."""
    by_fact: dict[int, Decision] = {}
    for decision in answer.decisions:
        by_fact.setdefault(decision.fact, decision)
    return [by_fact.get(number) for number in range(1, count + 1)]


def _step(candidate: Candidate, decision: Decision | None, near: Sequence[Memory], window: Window) -> Step:
    """Return what *decision* means for *candidate*; a number that was not offered touches nothing."""
    if decision is None:
        return consolidation.created(candidate)
    if decision.action is Action.CREATE:
        return consolidation.created(candidate, decision.text, decision.reason or consolidation.NEW)
    if decision.memory and 0 < decision.memory <= len(near):
        return _touching(candidate, decision, near[decision.memory - 1], window)
    is_quiet = decision.action is Action.NONE and decision.reason
    return Step(Verdict.REJECTED, reason=decision.reason if is_quiet else consolidation.NOT_OFFERED)


def _touching(candidate: Candidate, decision: Decision, memory: Memory, window: Window) -> Step:
    """Return what a decision about *memory* means; only a deletion comes of a request to forget."""
    if decision.action is Action.DELETE:
        return consolidation.deleted(candidate, memory, decision.reason or "asked to forget")
    if consolidation.is_forget_request(candidate):
        return Step(Verdict.REJECTED, reason=decision.reason or consolidation.NOTHING_TO_FORGET)
    if decision.action is Action.UPDATE:
        text = decision.text or candidate.fact
        return consolidation.updated(candidate, memory, text, decision.reason or "changed", window.settings)
    return consolidation.restated(candidate, memory, window.settings, decision.reason or consolidation.RESTATED)


def _with_vectors(candidates: Sequence[Candidate], steps: Sequence[Step], embedder: Embedder) -> list[Step]:
    """Give steps with a text their vector: the candidate's own where it is its text, else embedded in one call."""
    known = {candidate.fact: candidate.vector for candidate in candidates}
    texts = {step.text for step in steps if step.text and not step.vector and step.text not in known}
    wanted = sorted(texts)
    made = dict(zip(wanted, embedder.embed(wanted), strict=True)) if wanted else {}
    vectors = {**made, **known}
    return [
        replace(step, vector=vectors.get(step.text, b"")) if step.text and not step.vector else step for step in steps
    ]
