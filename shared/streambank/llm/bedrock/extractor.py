"""Extraction by a model on Bedrock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from streambank.llm.bedrock import prompts, tools
from streambank.llm.bedrock import tool_output
from streambank.llm.bedrock.converse import Converse, Question
from streambank.llm.bedrock.echoes import without_echoes
from streambank.llm.ports import ExtractedFact, ExtractedProfile, Extraction, ExtractionRequest


@dataclass(frozen=True, slots=True)
class BedrockExtractor:
    """Proposes facts with one model call, two where the first answer cannot be used."""

    converse: Converse

    def extract(self, request: ExtractionRequest) -> Extraction:
        """Return the facts of *request*'s own turns. Raises as `ports.Extractor` says."""
        question = Question(
            system=prompts.extraction_system(request),
            prompt=prompts.extraction_prompt(request),
            tool=tools.record_facts(request),
            key="facts",
            model=request.model,
        )
        ids = [schema.id for schema in request.schemas]

        def read(value: dict[str, Any]) -> tuple[tuple[ExtractedFact, ...], tuple[ExtractedProfile, ...]]:
            return tool_output.facts(value) if request.is_natural else (), tool_output.profiles(value, ids)

        (facts, profiles), usage = self.converse.ask(question, read)
        return Extraction(without_echoes(facts, request.turns, question.system), usage, profiles)
