"""The first state of a generation: a window's events become candidates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from functools import partial

from streambank.errors import GenerationError
from streambank.llm.ports import Embedder, Extractor
from streambank.model.bank import BankConfig
from streambank.model.plan import Candidate, Extracted
from streambank.model.window import Attempt, Window
from streambank.pipeline.generation.extract_turns import ExtractTurnsContext, extract_turns
from streambank.pipeline.generation.token_budget import TokenBudget
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
    extractor: Extractor
    embedder: Embedder
    token_budget: TokenBudget
    retention_policy: RetentionPolicy
    id_secret: bytes
    now: datetime


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
    document = context.banks.active_document(attempt.bank)
    if document is None:
        return ExtractOutcome.LATE
    config = bank_config(document, window.stream.scope)
    expires = context.retention_policy.of_results(window, now=context.now)
    try:
        if window.direct:
            extracted, embed = _direct(window), partial(_embed_direct, attempt.bank, config, context)
        else:  # the call that extracted the facts has booked their embedding
            extracted = _of_turns(attempt, window, config, context, expires)
            embed = partial(context.embedder.embed, model=config.embedding_model)
        candidates = _embedded(extracted.candidates, embed)
    except GenerationError as error:
        if error.provider_error:
            context.windows.note_provider_error(attempt, error.provider_error)
        return error.outcome
    is_saved = context.plans.save_extracted(attempt, replace(extracted, candidates=candidates), expires=expires)
    if is_saved or context.plans.extracted(attempt) is not None:
        return ExtractOutcome.EXTRACTED
    return ExtractOutcome.LATE


def _of_turns(
    attempt: Attempt, window: Window, config: BankConfig, context: ExtractContext, expires: datetime | None
) -> Extracted:
    of_turns = ExtractTurnsContext(
        windows=context.windows,
        plans=context.plans,
        memories=context.memories,
        extractor=context.extractor,
        embedder=context.embedder,
        token_budget=context.token_budget,
        id_secret=context.id_secret,
        now=context.now,
        expires=expires,
    )
    return extract_turns(attempt, window, config, context=of_turns)


def _direct(window: Window) -> Extracted:
    """Return facts that the caller states as candidates: they are stored verbatim and need no grounding."""
    at = window.last_arrival
    stated = [Candidate(one.fact, (), at, one.topics, validity=one.validity) for one in window.direct]
    return Extracted(tuple(grounding.reject_repeats(stated)))


def _embed_direct(bank: str, config: BankConfig, context: ExtractContext, facts: Sequence[str]) -> list[bytes]:
    return context.token_budget.embed(bank, config, facts, context.embedder, now=context.now)


def _embedded(candidates: Sequence[Candidate], embed: Callable[[Sequence[str]], list[bytes]]) -> tuple[Candidate, ...]:
    """Return *candidates* with vectors, in at most one call; rejected ones and profiles get none."""
    facts = [one.fact for one in candidates if one.is_searched]
    vectors = iter(embed(facts) if facts else [])
    return tuple(replace(one, vector=next(vectors)) if one.is_searched else one for one in candidates)
