"""The basic extractor: rules in place of a model, for local mode and for tests."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from streambank.llm.ports import FORGET, ExtractedFact, Extraction, ExtractionRequest, Usage
from streambank.model.extraction import FactChange
from streambank.rules.grounding import OTHER_TOPIC
from streambank_local.basic.fact_list import PendingFact
from streambank_local.basic.language import is_foreign
from streambank_local.basic.meaning import parse_meaning
from streambank_local.basic.memory_requests import forget_meaning, match_score
from streambank_local.basic.reader import Reader
from streambank_local.basic.third_person import in_third_person

_MAX_TEXT_CHARACTERS = 200
_MOST_DROPPED = 20


class BasicExtractor:
    """Proposes the facts that the user states about themselves in a window; deterministic and offline."""

    def extract(self, request: ExtractionRequest) -> Extraction:
        """Return the facts of *request*'s own turns, the latest value of each attribute only."""
        reader = Reader(request.time_zone, request.memories)
        for turn in request.turns:
            reader.read(turn)
        usage = Usage(calls=1, characters=sum(len(turn.text) for turn in request.turns))
        return Extraction((*_facts(reader.facts(), request), *_dropped(reader, request)), usage)


def _facts(pending: Iterable[PendingFact], request: ExtractionRequest) -> list[ExtractedFact]:
    return [_fact(fact, request) for fact in pending if _is_requested(fact, request.topics)]


def _fact(fact: PendingFact, request: ExtractionRequest) -> ExtractedFact:
    text = _in_person(fact.text, third_person=request.third_person)
    if fact.text.startswith(FORGET):
        what = forget_meaning(fact.text, FORGET)
        named = tuple(one.number for one in request.memories if match_score(what, parse_meaning(one.fact)) > 0)
        return ExtractedFact(text, fact.events, fact.topic, FactChange.FORGETS, named)
    if fact.replaces is not None:
        extracted = ExtractedFact(text, fact.events, fact.topic, FactChange.CHANGES, (fact.replaces,), text)
    else:
        extracted = ExtractedFact(text, fact.events, fact.topic)
    return replace(extracted, validity=fact.validity, is_correction=fact.is_correction)


def _dropped(reader: Reader, request: ExtractionRequest) -> list[ExtractedFact]:
    """Return a row with a problem for each statement of the user that is not remembered, up to a limit."""
    others = (fact for fact in reader.facts() if not _is_requested(fact, request.topics))
    rows = [*reader.dropped, *((fact.text, fact.events, OTHER_TOPIC) for fact in others)]
    return [
        ExtractedFact(text[:_MAX_TEXT_CHARACTERS], events, problem=problem)
        for text, events, problem in rows[:_MOST_DROPPED]
    ]


def _is_requested(fact: PendingFact, topics: Collection[str]) -> bool:
    """Tell whether *fact* belongs to *topics*; a request to forget belongs to all."""
    return not topics or fact.topic in topics or fact.text.startswith(FORGET)


def _in_person(text: str, *, third_person: bool) -> str:
    if not third_person or is_foreign(text):
        return text
    if text.startswith(FORGET):
        what = in_third_person(text.removeprefix(FORGET))
        return FORGET + what[:1].lower() + what[1:]
    return in_third_person(text)
