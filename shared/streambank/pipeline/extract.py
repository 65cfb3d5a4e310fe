"""The first state of a generation: a window's events become candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from enum import StrEnum

from streambank.errors import GenerationError
from streambank.llm.ports import Embedder, Extraction, ExtractionRequest, Extractor, Turn
from streambank.model.bank import BankConfig
from streambank.model.event import StoredEvent
from streambank.model.plan import Candidate, Extracted
from streambank.model.window import Attempt, Window
from streambank.rules import grounding
from streambank.rules.bank_config import bank_config
from streambank.store.banks import Banks
from streambank.store.plans import Plans
from streambank.store.windows import Windows


class Extracting(StrEnum):
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
    now: datetime,
) -> str:
    """Store the candidates of *attempt*'s window once and for ever; return the outcome.

    Outcomes: `extracted`, `late` (another attempt holds the window), or a `GenerationError`'s own.
    """
    window = windows.claim(attempt, now=now)
    if window is None:
        return Extracting.LATE
    if plans.extracted(attempt) is not None:
        return Extracting.EXTRACTED
    config = bank_config(banks.document(attempt.bank), window.stream.scope)
    try:
        found = _direct(window) if window.direct else _from_events(window, config, windows, extractor)
        found = replace(found, candidates=_embedded(found.candidates, embedder))
    except GenerationError as error:
        return error.outcome
    if plans.save_extracted(attempt, found) or plans.extracted(attempt) is not None:
        return Extracting.EXTRACTED
    return Extracting.LATE


def _direct(window: Window) -> Extracted:
    """Facts that the caller states are stored verbatim and need no grounding."""
    stated = [Candidate(memory.fact, (), window.last_arrival, memory.topics) for memory in window.direct]
    return Extracted(tuple(grounding.without_repeats(stated)))


def _from_events(window: Window, config: BankConfig, windows: Windows, extractor: Extractor) -> Extracted:
    own = sorted(windows.events(window), key=StoredEvent.order)
    carried = sorted(windows.overlap(window), key=StoredEvent.order)
    shown = [event for event in [*carried, *own] if prompted_text(event)]
    if not any(event.seq >= window.first_seq for event in shown):
        return Extracted((), covered=len(own))
    allowed = window.settings.allowed_topics
    request = ExtractionRequest(
        turns=tuple(_turn(number, event, window) for number, event in enumerate(shown, 1)),
        topics=config.topics if allowed is None else allowed,
        third_person=config.third_person,
        time_zone=window.settings.time_zone or "UTC",
    )
    extraction = extractor.extract(request)
    grounded = (grounding.on_topic(one, request.topics) for one in _grounded(extraction, shown, window))
    candidates = tuple(grounding.without_repeats(list(grounded)))
    return Extracted(candidates, extraction.usage.calls, extraction.usage.characters, len(own))


def prompted_text(event: StoredEvent) -> str:
    """Return what a model is shown of *event*: its text; tool traffic, media, thoughts and blanks are left out."""
    texts = (part["text"] for part in event.event.parts if not part.get("thought") and part.get("text"))
    return "\n".join(texts).strip()


def _turn(number: int, event: StoredEvent, window: Window) -> Turn:
    is_context = event.seq < window.first_seq
    return Turn(number, event.event.role, prompted_text(event), event.order()[0], is_context)


def _grounded(extraction: Extraction, shown: Sequence[StoredEvent], window: Window) -> list[Candidate]:
    numbered = dict(enumerate(shown, 1))
    own = frozenset(number for number, event in numbered.items() if event.seq >= window.first_seq)
    return [grounding.grounded(fact.fact, fact.events, fact.topic, numbered, own) for fact in extraction.facts]


def _embedded(candidates: Sequence[Candidate], embedder: Embedder) -> tuple[Candidate, ...]:
    """Give each candidate that may go on its vector: at most one call."""
    wanted = [candidate.fact for candidate in candidates if not candidate.rejected]
    vectors = iter(embedder.embed(wanted) if wanted else [])
    return tuple(
        candidate if candidate.rejected else replace(candidate, vector=next(vectors)) for candidate in candidates
    )
