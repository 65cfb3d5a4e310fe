"""Extraction by a model on Bedrock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from streambank.llm.bedrock import prompts, tool_output, tools
from streambank.llm.bedrock.converse import Converse, ToolCallRequest
from streambank.llm.bedrock.echoes import uncite_echoes
from streambank.llm.ports import ExtractedFact, ExtractedProfile, Extraction, ExtractionRequest


@dataclass(frozen=True, slots=True)
class BedrockExtractor:
    """Proposes facts with one model call, or two if the first reply is unusable."""

    converse: Converse

    def extract(self, request: ExtractionRequest) -> Extraction:
        """Return the facts of *request*'s own turns. Raises as `ports.Extractor` says."""
        tool_call = ToolCallRequest(
            system=prompts.extraction_system(request),
            prompt=prompts.extraction_prompt(request),
            tool=tools.record_facts(request),
            key="facts",
            model=request.model,
        )
        ids = [schema.id for schema in request.schemas]

        def parse(value: dict[str, Any]) -> tuple[tuple[ExtractedFact, ...], tuple[ExtractedProfile, ...]]:
            return tool_output.parse_facts(value) if request.is_natural else (), tool_output.parse_profiles(value, ids)

        (facts, profiles), usage = self.converse.call_tool(tool_call, parse)
        return Extraction(uncite_echoes(facts, request.turns, tool_call.system), usage, profiles)
