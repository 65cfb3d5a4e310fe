"""Extraction by a language model."""

from __future__ import annotations

from dataclasses import dataclass

from streambank.llm.dialogue import prompts, tools
from streambank.llm.dialogue.answers import ExtractionReader
from streambank.llm.dialogue.echoes import Placeholders, uncite_echoes
from streambank.llm.dialogue.tool_call import ChatModel, ToolCallRequest, call_tool
from streambank.llm.ports import Extraction, ExtractionRequest


@dataclass(frozen=True, slots=True)
class ModelExtractor:
    """Proposes facts with one model call, or two if the first reply is unusable."""

    model: ChatModel

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
        answer, usage = call_tool(self.model, tool_call, reader.read)
        facts = uncite_echoes(answer.facts, request.turns, tool_call.system.text)
        return Extraction(facts, usage, answer.profiles)
