"""The first state of a generation: a window's events become candidates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from functools import partial

from streambank.errors import GenerationError
from streambank.llm.ports import Embedder, Extractor
from streambank.model.bank import BankConfig
from streambank.model.consent import Learning
from streambank.model.coverage import Coverage, NotShown
from streambank.model.plan import Candidate, Extracted
from streambank.model.window import Attempt, Window
from streambank.pipeline.generation.extract_turns import ExtractTurnsContext, extract_turns
from streambank.pipeline.generation.token_budget import TokenBudget
from streambank.pipeline.memories.scope_reader import ScopeReader
from streambank.pipeline.screening.screening import Screenings
from streambank.rules import grounding
from streambank.rules.bank_config import bank_config
from streambank.store.banks import Banks
from streambank.store.memories import Memories
from streambank.store.plans import Plans
from streambank.store.streams import RetentionPolicy
from streambank.store.windows import Windows


class ExtractOutcome(StrEnum):
    """The outcomes that the state machine branches on."""

    EXTRACTED = "extracted"
    LATE = "late"


@dataclass(frozen=True, slots=True)
class ExtractContext:
    """What an extraction needs."""

    windows: Windows
    plans: Plans
    banks: Banks
    memories: Memories
    reader: ScopeReader
    extractor: Extractor
    embedder: Embedder
    token_budget: TokenBudget
    retention_policy: RetentionPolicy
    id_secret: bytes
    now: datetime
    screenings: Screenings = field(default=Screenings())


def extract(attempt: Attempt, *, context: ExtractContext) -> str:
    """Store the candidates of *attempt*'s window once, and return the outcome.

    Outcomes: `extracted`, `late` (the attempt is not current any more, or the bank is being deleted), or a
    `GenerationError`'s own.

    Raises:
        OutOfReach: the table did not answer.
    """
    window = context.windows.claim(attempt, now=context.now)
    if window is None:
        return ExtractOutcome.LATE
    if context.plans.extracted(attempt) is not None:
        return ExtractOutcome.EXTRACTED
    active = context.banks.with_document(attempt.bank)
    if active is None:
        return ExtractOutcome.LATE
    bank, document = active
    config = bank_config(document, window.stream.scope)
    expires = context.retention_policy.of_results(window, now=context.now)
    try:
        if bank.has_consent_settings and _is_learning_disabled(window, context):
            extracted = _not_learnt(window)
        else:
            extracted = propose(attempt, window, config, context=_of_turns(window, context, expires))
    except GenerationError as error:
        if error.provider_error:
            context.windows.note_provider_error(attempt, error.provider_error)
        return error.outcome
    is_saved = context.plans.save_extracted(attempt, extracted, expires=expires)
    if is_saved or context.plans.extracted(attempt) is not None:
        return ExtractOutcome.EXTRACTED
    return ExtractOutcome.LATE


def propose(attempt: Attempt, window: Window, config: BankConfig, *, context: ExtractTurnsContext) -> Extracted:
    """Return the candidates of *window* with their vectors; nothing is written but usage, and answers for pieces.

    Raises:
        GenerationError: the model's own, EventsMissing or BudgetPaused.
    """
    if window.direct:
        extracted, embed = _direct(window), partial(_embed_direct, attempt.bank, config, context)
    else:  # the call that extracted the facts has booked their embedding
        extracted = extract_turns(attempt, window, config, context=context)
        embed = partial(context.embedder.embed, model=config.embedding_model)
    return replace(extracted, candidates=_embedded(extracted.candidates, embed))


def _of_turns(window: Window, context: ExtractContext, expires: datetime | None) -> ExtractTurnsContext:
    stream = window.stream
    return ExtractTurnsContext(
        windows=context.windows,
        plans=context.plans,
        memories=context.memories,
        memories_of_scope=partial(context.reader.needed, stream.bank, stream.scope, now=context.now),
        extractor=context.extractor,
        embedder=context.embedder,
        token_budget=context.token_budget,
        id_secret=context.id_secret,
        now=context.now,
        expires=expires,
        screenings=context.screenings,
    )


def _is_learning_disabled(window: Window, context: ExtractContext) -> bool:
    consent = context.memories.version(window.stream.bank, window.stream.scope).consent
    return consent.learning is Learning.DISABLED


def _not_learnt(window: Window) -> Extracted:
    """Return no candidates for a window of a scope that is set to learn nothing: no model reads its events."""
    count = window.count or len(window.direct)
    return Extracted((), coverage=Coverage(0, {NotShown.LEARNING_DISABLED.value: count}))


def _direct(window: Window) -> Extracted:
    """Return facts that the caller states as candidates: they are stored verbatim and need no grounding."""
    at = window.last_arrival
    stated = [Candidate(one.fact, (), at, one.topics, validity=one.validity) for one in window.direct]
    return Extracted(tuple(grounding.reject_repeats(stated)))


def _embed_direct(bank: str, config: BankConfig, context: ExtractTurnsContext, facts: Sequence[str]) -> list[bytes]:
    return context.token_budget.embed(bank, config, facts, context.embedder, now=context.now)


def _embedded(candidates: Sequence[Candidate], embed: Callable[[Sequence[str]], list[bytes]]) -> tuple[Candidate, ...]:
    """Return *candidates* with vectors, in at most one call; rejected ones and profiles get none."""
    facts = [one.fact for one in candidates if one.is_searched]
    vectors = iter(embed(facts) if facts else [])
    return tuple(replace(one, vector=next(vectors)) if one.is_searched else one for one in candidates)
