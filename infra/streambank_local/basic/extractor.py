"""The embedded extractor: rules in place of a model, for trying things out and for tests."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from streambank.llm.ports import FORGET, ExtractedFact, Extraction, ExtractionRequest, Usage
from streambank_local.basic.fact_list import PendingFact
from streambank_local.basic.language import is_foreign
from streambank_local.basic.reader import Reader
from streambank_local.basic.third_person import in_third_person


class BasicExtractor:
    """Proposes the facts that a window's user states about themselves; basic, deterministic, offline."""

    def extract(self, request: ExtractionRequest) -> Extraction:
        """Return the facts of *request*'s own turns, the latest value of each attribute only."""
        reader = Reader(request.time_zone)
        for turn in request.turns:
            reader.read(turn)
        usage = Usage(calls=1, characters=sum(len(turn.text) for turn in request.turns))
        return Extraction(tuple(_facts(reader.notes(), request)), usage)


def _facts(notes: Iterable[PendingFact], request: ExtractionRequest) -> list[ExtractedFact]:
    wanted = (note for note in notes if _is_asked_for(note, request.topics))
    return [
        ExtractedFact(_worded(note.text, third_person=request.third_person), note.events, note.topic) for note in wanted
    ]


def _is_asked_for(note: PendingFact, topics: Collection[str]) -> bool:
    """Tell whether *note* belongs to *topics*; a request to forget belongs to all."""
    return not topics or note.topic in topics or note.text.startswith(FORGET)


def _worded(text: str, *, third_person: bool) -> str:
    if not third_person or is_foreign(text):
        return text
    if text.startswith(FORGET):
        what = in_third_person(text.removeprefix(FORGET))
        return FORGET + what[:1].lower() + what[1:]
    return in_third_person(text)
