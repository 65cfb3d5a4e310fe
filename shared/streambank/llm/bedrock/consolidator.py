"""Consolidation by a model on Bedrock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from streambank.llm.bedrock import prompts, tools
from streambank.llm.bedrock import tool_output
from streambank.llm.bedrock.converse import Converse, Question
from streambank.llm.ports import Consolidation, ConsolidationRequest, Decision


@dataclass(frozen=True, slots=True)
class BedrockConsolidator:
    """Decides with one model call, two where the first answer cannot be used."""

    converse: Converse

    def consolidate(self, request: ConsolidationRequest) -> Consolidation:
        """Return a decision for each fact of *request*. Raises as `ports.Consolidator` says."""
        question = Question(
            system=prompts.consolidation_system(),
            prompt=prompts.consolidation_prompt(request),
            tool=tools.consolidate(),
            key="decisions",
            model=request.model,
        )

        def read(value: dict[str, Any]) -> tuple[Decision, ...]:
            return tool_output.decisions(value, facts=len(request.facts), memories=len(request.memories))

        decided, usage = self.converse.ask(question, read)
        return Consolidation(decided, usage)
