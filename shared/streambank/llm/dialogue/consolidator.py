"""Consolidation by a language model."""

from __future__ import annotations

from dataclasses import dataclass

from streambank.llm.dialogue import prompts, tools
from streambank.llm.dialogue.answers import ConsolidationReader
from streambank.llm.dialogue.echoes import Placeholders
from streambank.llm.dialogue.tool_call import ChatModel, ToolCallRequest, call_tool
from streambank.llm.ports import Consolidation, ConsolidationRequest


@dataclass(frozen=True, slots=True)
class ModelConsolidator:
    """Decides with one model call, or two if the first reply is unusable."""

    model: ChatModel

    def consolidate(self, request: ConsolidationRequest) -> Consolidation:
        """Return the decisions that can be used; a fact may have none. Raises as `ports.Consolidator` says."""
        tool_call = ToolCallRequest(
            system=prompts.consolidation_system(request),
            prompt=prompts.consolidation_prompt(request),
            tool=tools.consolidate(),
            keys=("decisions",),
            model=request.model,
        )
        reader = ConsolidationReader(request, Placeholders.of(tool_call.system.stable, tool_call.prompt))
        decisions, usage = call_tool(self.model, tool_call, reader.read)
        return Consolidation(decisions, usage)
