"""The second state of a generation: a plan says what each candidate does to the scope's memories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
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
from streambank.model.bank import BankConfig
from streambank.model.memory import Memory
from streambank.model.plan import Candidate, ForgetRequest, Plan, PlanStep
from streambank.model.usage import Usage
from streambank.model.verdict import NEW, RESTATED, Verdict
from streambank.model.window import Attempt, Window
from streambank.pipeline.generation.forgotten import reject_forgotten
from streambank.pipeline.generation.token_budget import TokenBudget
from streambank.rules import consolidation, profiles, ranking
from streambank.rules.bank_config import bank_config
from streambank.store.banks import Banks
from streambank.store.memories import Memories
from streambank.store.plans import Plans
from streambank.store.streams import RetentionPolicy
from streambank.store.windows import Windows


class ConsolidateOutcome(StrEnum):
    """The outcomes that the state machine branches on."""

    PLANNED = "planned"
    LATE = "late"
    ERASING = "ERASING"


@dataclass(frozen=True, slots=True)
class _JudgedSteps:
    """Steps for a run of candidates, and what they cost."""

    steps: list[PlanStep]
    usage: Usage = field(default=Usage())


@dataclass(frozen=True, slots=True)
class ConsolidateContext:
    """What a consolidation needs."""

    windows: Windows
    plans: Plans
    banks: Banks
    memories: Memories
    consolidator: Consolidator
    embedder: Embedder
    token_budget: TokenBudget
    retention_policy: RetentionPolicy
    now: datetime


def consolidate(attempt: Attempt, *, context: ConsolidateContext) -> str:
    """Store a plan for the candidates of *attempt*'s window that are not committed yet, and return the outcome.

    Outcomes: `planned`, `late` (the attempt is not current any more, or the bank is being deleted), `ERASING` (the
    scope is being erased; try later), or a `GenerationError`'s own.

    Raises:
        OutOfReach: the table did not answer.
    """
    window = context.windows.get_if_current(attempt)
    extracted = context.plans.extracted(attempt) if window else None
    if window is None or extracted is None:
        return ConsolidateOutcome.LATE
    view = context.memories.view(attempt.bank, window.stream.scope, now=context.now)
    if view.erasing:
        return ConsolidateOutcome.ERASING
    document = context.banks.active_document(attempt.bank)
    if document is None:
        return ConsolidateOutcome.LATE
    rest = extracted.candidates[window.cursor :]
    kept = [memory for memory in view.memories if memory.profile]
    natural = [memory for memory in view.memories if not memory.profile]
    near = ranking.nearest_to_candidates(_searched(rest), ranking.eligible(natural, window.settings))
    offered = {memory.id: memory.fingerprint for memory in [*near, *(kept if _has_profiles(rest) else [])]}
    offered |= {f"forget {one.sid}-{one.window}-{one.number}": one.text for one in view.requests}
    config = bank_config(document, window.stream.scope)
    material = _Material(window, config, near, kept, view.requests)
    try:
        judged = _still_valid(context.plans.plan(attempt), window, offered) or _judge(rest, material, context)
    except GenerationError as error:
        return error.outcome
    plan = Plan(view.version, window.cursor, tuple(judged.steps), offered, judged.usage)
    expires = context.retention_policy.of_results(window, now=context.now)
    is_saved = context.plans.save_plan(attempt, plan, expires=expires)
    return ConsolidateOutcome.PLANNED if is_saved else ConsolidateOutcome.LATE


@dataclass(frozen=True, slots=True)
class _Material:
    """What a window's candidates are judged by: memories *near* them, *profiles* and *requests* of the scope."""

    window: Window
    config: BankConfig
    near: Sequence[Memory]
    profiles: Sequence[Memory]
    requests: Sequence[ForgetRequest]


def _searched(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates that a model judges."""
    return [one for one in candidates if one.is_searched]


def _has_profiles(candidates: Sequence[Candidate]) -> bool:
    return any(one.profile and not one.rejected for one in candidates)


def _still_valid(plan: Plan | None, window: Window, offered: Mapping[str, str]) -> _JudgedSteps | None:
    """Return the steps of an older plan if they are valid at another version: the same memories would be offered."""
    if plan is None or plan.offered != offered or not plan.start <= window.cursor <= plan.start + len(plan.steps):
        return None
    return _JudgedSteps(list(plan.steps[window.cursor - plan.start :]), plan.usage)


def _judge(candidates: Sequence[Candidate], material: _Material, context: ConsolidateContext) -> _JudgedSteps:
    """Let the model judge *candidates*, unless there is no candidate for it or no memory near one."""
    window, config = material.window, material.config

    def ask(request: ConsolidationRequest) -> Consolidation:
        return _ask(request, material, context)

    candidates, spent = reject_forgotten(candidates, material.requests, window, config, ask, now=context.now)
    open_ones = _searched(candidates)
    if not open_ones or not material.near or material.window.settings.disable_consolidation:
        made = iter([consolidation.create_step(one) for one in open_ones])
        usage = spent
    else:
        answer = _answer(open_ones, material, context)
        decided = zip(open_ones, _in_order(answer, len(open_ones)), strict=True)
        made = iter([_step(one, decision, material.near, material.window) for one, decision in decided])
        usage = spent + answer.usage
    steps = [_own_step(one, material) or next(made) for one in candidates]
    return _JudgedSteps(_with_vectors(candidates, steps, context.embedder, material.config.embedding_model), usage)


def _own_step(candidate: Candidate, material: _Material) -> PlanStep | None:
    """Return the step of a candidate that no model judges, or None."""
    if candidate.profile:
        return profiles.plan_step(candidate, profiles.find_profile(material.profiles, candidate.profile))
    return consolidation.create_step(candidate) if candidate.rejected else None


def _answer(candidates: Sequence[Candidate], material: _Material, context: ConsolidateContext) -> Consolidation:
    return _ask(_request(candidates, material, context), material, context)


def _ask(request: ConsolidationRequest, material: _Material, context: ConsolidateContext) -> Consolidation:
    bank = material.window.stream.bank
    return context.token_budget.call(bank, material.config, request, context.consolidator.consolidate, now=context.now)


def _request(candidates: Sequence[Candidate], material: _Material, context: ConsolidateContext) -> ConsolidationRequest:
    facts = (
        OfferedFact(number, one.fact, one.topics[0] if one.topics else None, one.at)
        for number, one in enumerate(candidates, 1)
    )
    offered = (
        OfferedMemory(number, memory.fact, memory.as_of, _earlier(memory, material, context))
        for number, memory in enumerate(material.near, 1)
    )
    config = material.config
    return ConsolidationRequest(tuple(facts), tuple(offered), config.third_person, config.model)


def _earlier(memory: Memory, material: _Material, context: ConsolidateContext) -> tuple[str, ...]:
    """Return earlier texts of *memory*, as many as the bank offers a model beside the current one."""
    count = material.config.revisions_per_candidate - 1
    if count < 1 or memory.revision < 2:
        return ()
    revisions = context.memories.revisions(material.window.stream.bank, memory, now=context.now)
    return tuple([one.fact for one in revisions if one.fact and one.number < memory.revision][:count])


def _in_order(answer: Consolidation, count: int) -> list[Decision | None]:
    """Return the first decision for each fact; a model may have skipped some."""
    by_fact: dict[int, Decision] = {}
    for decision in answer.decisions:
        by_fact.setdefault(decision.fact, decision)
    return [by_fact.get(number) for number in range(1, count + 1)]


def _step(candidate: Candidate, decision: Decision | None, near: Sequence[Memory], window: Window) -> PlanStep:
    """Return the step for a *decision*; one that names a memory that was not offered is rejected."""
    if decision is None:
        return consolidation.create_step(candidate)
    if decision.action is Action.CREATE:
        return consolidation.create_step(candidate, decision.text, decision.reason or NEW)
    if decision.memory and 0 < decision.memory <= len(near):
        return _touching(candidate, decision, near[decision.memory - 1], window)
    is_quiet = decision.action is Action.NONE and decision.reason
    return PlanStep(Verdict.REJECTED, reason=decision.reason if is_quiet else consolidation.NOT_OFFERED)


def _touching(candidate: Candidate, decision: Decision, memory: Memory, window: Window) -> PlanStep:
    """Return the step for a decision about *memory*; a request to forget can only become a deletion."""
    if decision.action is Action.DELETE:
        return consolidation.delete_step(candidate, memory, decision.reason or "asked to forget")
    if consolidation.is_forget_request(candidate):
        return PlanStep(Verdict.REJECTED, reason=decision.reason or consolidation.NOTHING_TO_FORGET)
    if decision.action is Action.UPDATE:
        text = decision.text or candidate.fact
        return consolidation.update_step(candidate, memory, text, decision.reason or "changed", window.settings)
    return consolidation.restate_step(candidate, memory, window.settings, decision.reason or RESTATED)


def _with_vectors(
    candidates: Sequence[Candidate], steps: Sequence[PlanStep], embedder: Embedder, model: str | None
) -> list[PlanStep]:
    """Return *steps* with vectors of their texts: the candidate's own for the same text, else from one call."""
    known = {one.fact: one.vector for one in candidates if one.vector}
    searched = [not one.profile for one in candidates]
    needs = [bool(step.text and not step.vector and one) for step, one in zip(steps, searched, strict=True)]
    texts = sorted({step.text or "" for step, need in zip(steps, needs, strict=True) if need} - known.keys())
    made = dict(zip(texts, embedder.embed(texts, model=model), strict=True)) if texts else {}
    vectors = {**made, **known}
    return [
        replace(step, vector=vectors[step.text or ""]) if need else step
        for step, need in zip(steps, needs, strict=True)
    ]
