"""Consolidation by a model on Bedrock."""

from __future__ import annotations

from dataclasses import dataclass

from streambank.llm.bedrock import prompts, tools
from streambank.llm.bedrock.answers import ConsolidationReader
from streambank.llm.bedrock.converse import Converse, ToolCallRequest
from streambank.llm.bedrock.echoes import Placeholders
from streambank.llm.ports import Consolidation, ConsolidationRequest


@dataclass(frozen=True, slots=True)
class BedrockConsolidator:
    """Decides with one model call, or two if the first reply is unusable."""

    converse: Converse

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
        decisions, usage = self.converse.call_tool(tool_call, reader.read)
        return Consolidation(decisions, usage)
