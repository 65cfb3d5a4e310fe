"""Extraction by a model on Bedrock."""

from __future__ import annotations

from dataclasses import dataclass

from streambank.llm.bedrock import prompts, tools
from streambank.llm.bedrock.answers import ExtractionReader
from streambank.llm.bedrock.converse import Converse, ToolCallRequest
from streambank.llm.bedrock.echoes import Placeholders, uncite_echoes
from streambank.llm.ports import Extraction, ExtractionRequest


@dataclass(frozen=True, slots=True)
class BedrockExtractor:
    """Proposes facts with one model call, or two if the first reply is unusable."""

    converse: Converse

    def extract(self, request: ExtractionRequest) -> Extraction:
        """Return the facts of *request*'s own turns; unusable ones say why. Raises as `ports.Extractor` says."""
        tool_call = ToolCallRequest(
            system=prompts.extraction_system(request),
            prompt=prompts.extraction_prompt(request),
            tool=tools.record_facts(request),
            keys=("facts", "profiles") if request.schemas else ("facts",),
            model=request.model,
        )
        reader = ExtractionReader(request, Placeholders.of(tool_call.system.stable, tool_call.prompt))
        answer, usage = self.converse.call_tool(tool_call, reader.read)
        facts = uncite_echoes(answer.facts, request.turns, tool_call.system.text)
        return Extraction(facts, usage, answer.profiles)
