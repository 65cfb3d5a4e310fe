"""The extraction of a window's turns, in as many pieces as the token limit of one call requires."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from streambank.errors import EventsMissing, ModelOutputTruncated
from streambank.llm.ports import Extraction, ExtractionRequest, Extractor, Turn
from streambank.model.bank import BankConfig
from streambank.model.event import StoredEvent
from streambank.model.plan import Candidate, Extracted
from streambank.model.usage import Usage
from streambank.model.window import Attempt, Window
from streambank.pipeline.generation.token_budget import TokenBudget
from streambank.rules import grounding, profiles
from streambank.rules.chunks import halve_turns, split_turns
from streambank.rules.citations import prompt_text
from streambank.store.plans import Plans
from streambank.store.windows import Windows


@dataclass(frozen=True, slots=True)
class ExtractTurnsContext:
    """What the extraction of a window's turns needs; *expires* is until when stored answers are kept."""

    windows: Windows
    plans: Plans
    extractor: Extractor
    token_budget: TokenBudget
    now: datetime
    expires: datetime | None


def extract_turns(attempt: Attempt, window: Window, config: BankConfig, *, context: ExtractTurnsContext) -> Extracted:
    """Return the candidates of *window*; one model call within the limit, none where there is nothing to read.

    Raises:
        GenerationError: the model's own, EventsMissing or BudgetPaused. The answer for a piece is kept for the next
            attempt.
    """
    own = _own_events(window, context.windows)
    overlap = sorted(context.windows.overlap(window), key=StoredEvent.order)
    prompted = [event for event in [*overlap, *own] if prompt_text(event)]
    request = _request(window, config, prompted)
    is_idle = not request.is_natural and not request.schemas
    if is_idle or not any(event.seq >= window.first_seq for event in prompted):
        return Extracted((), covered=len(own))
    extraction = _read(attempt, request, config, context)
    candidates = _candidates(extraction, request, prompted, window)
    return Extracted(candidates, extraction.usage, len(own))


def _own_events(window: Window, windows: Windows) -> list[StoredEvent]:
    """Return the events of *window* in their order. Raises EventsMissing unless all are stored."""
    events = sorted(windows.events(window), key=StoredEvent.order)
    if window.missing_seqs(event.seq for event in events):
        raise EventsMissing(f"fewer than {window.count} events are stored")
    return events


def _request(window: Window, config: BankConfig, prompted: Sequence[StoredEvent]) -> ExtractionRequest:
    allowed = window.settings.allowed_topics
    return ExtractionRequest(
        turns=tuple(_turn(number, event, window) for number, event in enumerate(prompted, 1)),
        topics=config.topics if allowed is None else allowed,
        third_person=config.third_person,
        time_zone=window.settings.time_zone or "UTC",
        descriptions=config.descriptions,
        examples=config.examples,
        schemas=config.schemas,
        is_natural=config.is_natural,
        model=config.model,
    )


def _turn(number: int, event: StoredEvent, window: Window) -> Turn:
    is_context = event.seq < window.first_seq
    return Turn(number, event.event.role, prompt_text(event), event.order()[0], is_context)


def _read(attempt: Attempt, request: ExtractionRequest, config: BankConfig, context: ExtractTurnsContext) -> Extraction:
    """Return the model's answers to all pieces as one; where there are several, each answer is stored at once."""
    runs = split_turns(request.turns, context.token_budget.call_tokens)
    if len(runs) == 1:
        return _joined(_answers(attempt, replace(request, turns=runs[0]), config, context))
    answers = (
        _stored_answer(attempt, number, replace(request, turns=run), config, context) for number, run in enumerate(runs)
    )
    return _joined(answers)


def _stored_answer(
    attempt: Attempt, number: int, piece: ExtractionRequest, config: BankConfig, context: ExtractTurnsContext
) -> Extraction:
    digest = hashlib.sha256(repr(piece).encode(errors="replace")).hexdigest()[:16]
    stored = context.plans.piece(attempt, number, digest)
    if stored is not None:
        return stored
    answer = _joined(_answers(attempt, piece, config, context))
    context.plans.save_piece(attempt, number, digest, answer, expires=context.expires)
    return answer


def _answers(
    attempt: Attempt, piece: ExtractionRequest, config: BankConfig, context: ExtractTurnsContext
) -> Iterator[Extraction]:
    """Yield the model's answers to *piece*, or to its halves, and theirs, where an answer would be too long."""
    try:
        yield context.token_budget.call(attempt.bank, config, piece, context.extractor.extract, now=context.now)
    except ModelOutputTruncated as error:
        parts = halve_turns(piece.turns)
        if not parts:
            raise
        yield Extraction((), error.spent or Usage())
        for turns in parts:
            yield from _answers(attempt, replace(piece, turns=turns), config, context)


def _joined(answers: Iterator[Extraction]) -> Extraction:
    whole = Extraction(())
    for one in answers:
        whole = Extraction(whole.facts + one.facts, whole.usage + one.usage, whole.profiles + one.profiles)
    return whole


def _candidates(
    extraction: Extraction, request: ExtractionRequest, prompted: Sequence[StoredEvent], window: Window
) -> tuple[Candidate, ...]:
    numbered = dict(enumerate(prompted, 1))
    own = frozenset(number for number, event in numbered.items() if event.seq >= window.first_seq)
    facts = [
        grounding.restrict_to_topics(
            grounding.ground(fact.fact, fact.events, fact.topic, numbered, own), request.topics
        )
        for fact in extraction.facts
    ]
    schemas = {schema.id: schema for schema in request.schemas}
    of_profiles = [
        candidate
        for one in extraction.profiles
        for candidate in profiles.profile_candidates(
            one.data, grounding.ground("{}", one.events, None, numbered, own), schemas[one.schema]
        )
    ]
    return (*grounding.reject_repeats(facts), *profiles.merge_candidates(of_profiles))
