"""The first state of a generation: a window's events become candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from enum import StrEnum

from streambank.errors import GenerationError
from streambank.llm.ports import Embedder, Extractor
from streambank.model.plan import Candidate, Extracted
from streambank.model.window import Attempt, Window
from streambank.pipeline.generation.extract_turns import ExtractTurnsContext, extract_turns
from streambank.pipeline.generation.token_budget import TokenBudget
from streambank.rules import grounding
from streambank.rules.bank_config import bank_config
from streambank.store.banks import Banks
from streambank.store.plans import Plans
from streambank.store.streams import RetentionPolicy
from streambank.store.windows import Windows


class ExtractOutcome(StrEnum):
    """What the state machine is told."""

    EXTRACTED = "extracted"
    LATE = "late"


def extract(
    attempt: Attempt,
    *,
    windows: Windows,
    plans: Plans,
    banks: Banks,
    extractor: Extractor,
    embedder: Embedder,
    token_budget: TokenBudget,
    retention_policy: RetentionPolicy,
    now: datetime,
) -> str:
    """Store the candidates of *attempt*'s window once and for ever; return the outcome.

    Outcomes: `extracted`, `late` (another attempt holds the window), or a `GenerationError`'s own.
    """
    window = windows.claim(attempt, now=now)
    if window is None:
        return ExtractOutcome.LATE
    if plans.extracted(attempt) is not None:
        return ExtractOutcome.EXTRACTED
    config = bank_config(banks.document(attempt.bank), window.stream.scope)
    expires = retention_policy.of_results(window, now=now)
    context = ExtractTurnsContext(windows, plans, extractor, token_budget, now, expires)
    try:
        found = _direct(window) if window.direct else extract_turns(attempt, window, config, context)
        found = replace(found, candidates=_embedded(found.candidates, embedder, config.embedding_model))
    except GenerationError as error:
        return error.outcome
    if plans.save_extracted(attempt, found, expires=expires) or plans.extracted(attempt) is not None:
        return ExtractOutcome.EXTRACTED
    return ExtractOutcome.LATE


def _direct(window: Window) -> Extracted:
    """Facts that the caller states are stored verbatim and need no grounding."""
    stated = [Candidate(memory.fact, (), window.last_arrival, memory.topics) for memory in window.direct]
    return Extracted(tuple(grounding.reject_repeats(stated)))


def _embedded(candidates: Sequence[Candidate], embedder: Embedder, model: str | None) -> tuple[Candidate, ...]:
    """Give each candidate that may go on its vector: at most one call. Profiles are looked up, not searched."""
    wanted = [one.fact for one in candidates if one.is_searched]
    vectors = iter(embedder.embed(wanted, model=model) if wanted else [])
    return tuple(replace(one, vector=next(vectors)) if one.is_searched else one for one in candidates)
