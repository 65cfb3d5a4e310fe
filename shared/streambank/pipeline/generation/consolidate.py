"""The second state of a generation: a plan says what each candidate does to the scope's memories."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from streambank.errors import GenerationError
from streambank.llm.ports import Consolidation, ConsolidationRequest, Consolidator, Embedder
from streambank.model.bank import BankConfig
from streambank.model.coverage import NotShown
from streambank.model.memory import Memory
from streambank.model.plan import Candidate, Extracted, Plan, PlanStep
from streambank.model.usage import Usage
from streambank.model.window import Attempt, Window
from streambank.pipeline.generation.doubtful import DoubtfulFacts
from streambank.pipeline.generation.forgotten import reject_deleted, reject_forgotten
from streambank.pipeline.generation.material import Material, is_learnt, needed, offered, searched
from streambank.pipeline.generation.token_budget import TokenBudget
from streambank.pipeline.memories.scope_reader import ScopeReader
from streambank.pipeline.screening.memories import screened_decisions
from streambank.pipeline.screening.screening import Screenings
from streambank.pipeline.screening.stored import StoredTexts
from streambank.rules import consolidation, profiles, proposals, second_answer, slices
from streambank.rules.bank_config import bank_config
from streambank.rules.prompted_parts import prompt_text
from streambank.rules.second_answer import SecondAnswer
from streambank.store.banks import Banks
from streambank.store.memories import Memories
from streambank.store.plans import Plans
from streambank.store.scope_view import ScopeView
from streambank.store.streams import RetentionPolicy
from streambank.store.windows import Windows

Ask = Callable[[ConsolidationRequest], Consolidation]


class ConsolidateOutcome(StrEnum):
    """The outcomes that the state machine branches on."""

    PLANNED = "planned"
    LATE = "late"
    ERASING = "ERASING"


@dataclass(frozen=True, slots=True)
class JudgedSteps:
    """Steps for a run of candidates, and what they cost."""

    steps: list[PlanStep]
    usage: Usage = field(default=Usage())


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeContext:
    """What judging candidates needs; nothing is written with it but usage."""

    windows: Windows
    memories: Memories
    consolidator: Consolidator
    embedder: Embedder
    token_budget: TokenBudget
    id_secret: bytes
    now: datetime
    screenings: Screenings = field(default=Screenings())


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidateContext(JudgeContext):
    """What a consolidation needs."""

    plans: Plans
    banks: Banks
    reader: ScopeReader
    retention_policy: RetentionPolicy


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
    rest = list(extracted.candidates[window.cursor :])
    view = context.reader.view(attempt.bank, window.stream.scope, needed(rest, extracted), now=context.now)
    if view.erasing:
        return ConsolidateOutcome.ERASING
    document = context.banks.active_document(attempt.bank)
    if document is None:
        return ConsolidateOutcome.LATE
    left = context.memories.tombstones(attempt.bank, window.stream.scope, now=context.now)
    rest = reject_deleted(rest, left, window, context)
    rest = _learnt(rest, view)
    config = bank_config(document, window.stream.scope)
    try:
        rest = _screened(attempt.bank, rest, config, context)
    except GenerationError as error:
        return error.outcome
    material = Material.of(window, config, view.memories, view.requests, extracted.offered)
    marks = offered(rest, material, left, view)
    try:
        judged = _still_valid(context.plans.plan(attempt), window, marks) or judge(rest, material, context=context)
    except GenerationError as error:
        if error.provider_error:
            context.windows.note_provider_error(attempt, error.provider_error)
        return error.outcome
    steps = tuple(judged.steps)
    plan = Plan(view.version, window.cursor, steps, marks, judged.usage, view.needs_index)
    return _save(attempt, window, extracted, rest, plan, context)


def _learnt(candidates: list[Candidate], view: ScopeView) -> list[Candidate]:
    """Return *candidates*, all of them rejected where the scope is set to learn nothing."""
    if is_learnt(view):
        return candidates
    return [replace(one, rejected=NotShown.LEARNING_DISABLED.value) for one in candidates]


def _screened(
    bank: str, candidates: Sequence[Candidate], config: BankConfig, context: ConsolidateContext
) -> list[Candidate]:
    """Return *candidates*, which may be older than the bank's content policy, as it leaves them."""
    if config.content_policy is None:
        return list(candidates)

    def vector(fact: str) -> bytes:
        return context.token_budget.embed(bank, config, [fact], context.embedder, now=context.now)[0]

    texts = StoredTexts(context.screenings.of(bank).screen(config.content_policy), vector)
    texts.read_ahead(text for one in candidates for text in (one.fact, one.text))
    return [texts.candidate(one) for one in candidates]


def _save(
    attempt: Attempt,
    window: Window,
    extracted: Extracted,
    candidates: Sequence[Candidate],
    plan: Plan,
    context: ConsolidateContext,
) -> str:
    """Store *plan* for *candidates*; a candidate with more steps than a slice takes is repeated behind the others."""
    expires = context.retention_policy.of_results(window, now=context.now)
    steps, more = slices.divided(candidates, plan.steps)
    if more:
        extended = replace(extracted, candidates=(*extracted.candidates, *(one for one, _ in more)))
        if not context.plans.extend_extracted(attempt, extended, expires=expires):
            return ConsolidateOutcome.LATE
    whole = replace(plan, steps=(*steps, *(step for _, step in more)))
    is_saved = context.plans.save_plan(attempt, whole, expires=expires)
    return ConsolidateOutcome.PLANNED if is_saved else ConsolidateOutcome.LATE


def _still_valid(plan: Plan | None, window: Window, offered: Mapping[str, str]) -> JudgedSteps | None:
    """Return the steps of an older plan if they are valid at another version: the same memories would be offered."""
    if plan is None or plan.offered != offered or not plan.start <= window.cursor <= plan.start + len(plan.steps):
        return None
    return JudgedSteps(list(plan.steps[window.cursor - plan.start :]), plan.usage)


def judge(candidates: Sequence[Candidate], material: Material, *, context: JudgeContext) -> JudgedSteps:
    """Return the steps of *candidates*; the model is asked again about those that are destructive or doubtful.

    Raises:
        GenerationError: the model's own, or BudgetPaused.
    """
    window, config = material.window, material.config

    def ask(request: ConsolidationRequest) -> Consolidation:
        bank = window.stream.bank
        answer = context.token_budget.call(bank, config, request, context.consolidator.consolidate, now=context.now)
        policy, screening = config.content_policy, context.screenings.of(bank)
        return (
            replace(answer, decisions=screened_decisions(answer.decisions, policy, screening=screening))
            if policy
            else answer
        )

    candidates, usage = reject_forgotten(candidates, material.requests, window, config, ask, now=context.now)
    open_ones = searched(candidates)
    if window.settings.disable_consolidation:
        made = [consolidation.create_step(one) for one in open_ones]
    else:
        made, spent = _planned(open_ones, material, context, ask)
        usage += spent
    planned = iter(made)
    steps = [_own_step(one, material) or next(planned) for one in candidates]
    return JudgedSteps(_with_vectors(candidates, steps, context.embedder, config.embedding_model), usage)


def _own_step(candidate: Candidate, material: Material) -> PlanStep | None:
    """Return the step of a candidate that no model judges, or None."""
    if candidate.profile:
        return profiles.plan_step(candidate, profiles.find_profile(material.profiles, candidate.profile))
    return consolidation.create_step(candidate) if candidate.rejected else None


def _planned(
    candidates: Sequence[Candidate], material: Material, context: JudgeContext, ask: Ask
) -> tuple[list[PlanStep], Usage]:
    proposed = proposals.propose(candidates, material.memories, material.read)
    doubtful = DoubtfulFacts.of(proposed, material.memories)
    if not doubtful.indexes:
        return second_answer.steps(proposed, SecondAnswer(), material.window.settings), Usage()
    turns = _cited_turns([proposed[index].candidate for index in doubtful.indexes], material.window, context)
    request = doubtful.request(proposed, turns, _earlier(doubtful.memories, material, context), material.config)
    request = replace(request, time_zone=material.window.settings.time_zone or "UTC")
    answer = ask(request)
    return second_answer.steps(proposed, doubtful.answer(answer, turns), material.window.settings), answer.usage


def _cited_turns(candidates: Sequence[Candidate], window: Window, context: JudgeContext) -> list[tuple[str, ...]]:
    """Return the texts that each of *candidates* cites; one that the caller states cites none."""
    if not any(one.seqs for one in candidates):
        return [()] * len(candidates)
    events = [*context.windows.overlap(window), *context.windows.events(window)]
    texts = {event.seq: prompt_text(event) for event in events}
    return [tuple(texts[seq] for seq in one.seqs if texts.get(seq)) for one in candidates]


def _earlier(memories: Sequence[Memory], material: Material, context: JudgeContext) -> dict[str, tuple[str, ...]]:
    """Return earlier texts of *memories*, as many as the bank offers a model beside the current one."""
    count = material.config.revisions_per_candidate - 1
    changed = [memory for memory in memories if count > 0 and memory.revision > 1]
    bank = material.window.stream.bank
    return {memory.id: _former_texts(bank, memory, count, context) for memory in changed}


def _former_texts(bank: str, memory: Memory, count: int, context: JudgeContext) -> tuple[str, ...]:
    revisions = context.memories.revisions(bank, memory, now=context.now)
    return tuple([one.fact for one in revisions if one.fact not in ("", memory.fact) and not one.is_late][:count])


def _with_vectors(
    candidates: Sequence[Candidate], steps: Sequence[PlanStep], embedder: Embedder, model: str | None
) -> list[PlanStep]:
    """Return *steps* with vectors of their texts: the candidate's own for the same text, else from one call."""
    known = {one.fact: one.vector for one in candidates if one.vector}
    natural = [step for one, step in zip(candidates, steps, strict=True) if not one.profile]
    needed = {part.text for step in natural for part in step.all if part.text and not part.vector}
    texts = sorted(needed - known.keys())
    vectors = known | (dict(zip(texts, embedder.embed(texts, model=model), strict=True)) if texts else {})
    return [step if one.profile else _with_vector(step, vectors) for one, step in zip(candidates, steps, strict=True)]


def _with_vector(step: PlanStep, vectors: Mapping[str, bytes]) -> PlanStep:
    others = tuple(_with_vector(one, vectors) for one in step.others)
    vector = step.vector or vectors.get(step.text or "", b"")
    return replace(step, vector=vector, others=others)
