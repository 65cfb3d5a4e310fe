"""The basic extractor: rules in place of a model, for local mode and for tests."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from streambank.llm.ports import FORGET, ExtractedFact, Extraction, ExtractionRequest, Usage
from streambank_local.basic.fact_list import PendingFact
from streambank_local.basic.language import is_foreign
from streambank_local.basic.reader import Reader
from streambank_local.basic.third_person import in_third_person


class BasicExtractor:
    """Proposes the facts that the user states about themselves in a window; deterministic and offline."""

    def extract(self, request: ExtractionRequest) -> Extraction:
        """Return the facts of *request*'s own turns, the latest value of each attribute only."""
        reader = Reader(request.time_zone)
        for turn in request.turns:
            reader.read(turn)
        usage = Usage(calls=1, characters=sum(len(turn.text) for turn in request.turns))
        return Extraction(tuple(_facts(reader.facts(), request)), usage)


def _facts(pending: Iterable[PendingFact], request: ExtractionRequest) -> list[ExtractedFact]:
    selected = (fact for fact in pending if _is_requested(fact, request.topics))
    return [
        ExtractedFact(_in_person(fact.text, third_person=request.third_person), fact.events, fact.topic)
        for fact in selected
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
