"""Consolidation by a model on Bedrock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from streambank.llm.bedrock import prompts, tool_output, tools
from streambank.llm.bedrock.converse import Converse, ToolCallRequest
from streambank.llm.ports import Consolidation, ConsolidationRequest, Decision


@dataclass(frozen=True, slots=True)
class BedrockConsolidator:
    """Decides with one model call, or two if the first reply is unusable."""

    converse: Converse

    def consolidate(self, request: ConsolidationRequest) -> Consolidation:
        """Return a decision for each fact of *request*. Raises as `ports.Consolidator` says."""
        tool_call = ToolCallRequest(
            system=prompts.consolidation_system(),
            prompt=prompts.consolidation_prompt(request),
            tool=tools.consolidate(),
            key="decisions",
            model=request.model,
        )

        def parse(value: dict[str, Any]) -> tuple[Decision, ...]:
            return tool_output.parse_decisions(value, fact_count=len(request.facts), memory_count=len(request.memories))

        decisions, usage = self.converse.call_tool(tool_call, parse)
        return Consolidation(decisions, usage)
