"""A model that answers as the cases of the gold set say, for the player of `streambank_local.evaluation`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from streambank.llm.dialogue import prompts
from streambank.llm.dialogue.answers import ConsolidationReader, ExtractionReader
from streambank.llm.dialogue.echoes import Placeholders
from streambank.llm.ports import (
    Consolidation,
    ConsolidationRequest,
    Extraction,
    ExtractionRequest,
    OfferedMemory,
)
from streambank_local.evaluation.cases import Case, CaseDecision, Reply, Window
from streambank_local.evaluation.judging import Judgement, judged
from streambank_local.evaluation.playing import Player
from tests.world import HashEmbedder


@dataclass
class Script:
    """The replies of one case, window after window; *problems* are requests that do not fit the case."""

    case: Case
    extracted: int = 0
    decided: list[int] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def window(self) -> Window:
        return self.case.windows[self.extracted - 1]

    def unused(self) -> list[int]:
        """Return the numbers of windows that have decisions which no request was for."""
        numbered = enumerate(self.case.windows, 1)
        return [number for number, window in numbered if window.consolidate and number not in self.decided]


@dataclass
class ScriptedModels:
    """A provider whose replies are those of *script*, read as Bedrock's adapters read a model's tools."""

    script: Script | None = None

    def extractor(self) -> ScriptedModels:
        return self

    def consolidator(self) -> ScriptedModels:
        return self

    def embedder(self) -> HashEmbedder:
        return HashEmbedder()

    def extract(self, request: ExtractionRequest) -> Extraction:
        script = self._script()
        script.extracted += 1
        own = sum(not turn.context for turn in request.turns)
        if own > len(script.window.events):
            script.problems.append(f"{own} own events were given, {len(script.window.events)} were sent")
        rows = [self._fact(reply, request.memories) for reply in script.window.record_facts]
        placeholders = _placeholders(prompts.extraction_system(request), prompts.extraction_prompt(request))
        answer = ExtractionReader(request, placeholders).read({"facts": rows}).value
        return Extraction(answer.facts)

    def consolidate(self, request: ConsolidationRequest) -> Consolidation:
        script = self._script()
        script.decided.append(script.extracted)
        window = script.window
        texts = dict(enumerate((reply.fact for reply in window.record_facts), 1))
        numbers = {fact.fact.removeprefix("Forget: "): fact.number for fact in request.facts}
        by_number = {number: numbers.get(text.removeprefix("Forget: ")) for number, text in texts.items()}
        rows = [self._decision(one, by_number, request.memories) for one in window.consolidate if by_number[one.fact]]
        decided = {row["fact"] for row in rows} | {by_number[number] for number in window.left_out}
        rows += [_create(fact.number, fact.fact) for fact in request.facts if fact.number not in decided]
        placeholders = _placeholders(prompts.consolidation_system(request), prompts.consolidation_prompt(request))
        return Consolidation(ConsolidationReader(request, placeholders).read({"decisions": rows}).value)

    def _script(self) -> Script:
        assert self.script is not None, "no case is played"
        return self.script

    def _fact(self, reply: Reply, memories: Iterable[OfferedMemory]) -> dict[str, Any]:
        more = {"topic": reply.topic, "change": reply.change, "text": reply.text}
        numbers = self._numbers(reply.memories, memories)
        return {"fact": reply.fact, "events": list(reply.events), "memories": numbers} | _given(more)

    def _decision(
        self, decision: CaseDecision, by_number: Mapping[int, int | None], memories: Iterable[OfferedMemory]
    ) -> dict[str, Any]:
        same_as = by_number[decision.same_as] if decision.same_as else None
        numbers = self._numbers(decision.memories, memories)
        text = decision.text
        if text is None and decision.action != "NONE":
            text = self._script().window.record_facts[decision.fact - 1].fact
        row = {"fact": by_number[decision.fact], "action": decision.action, "memories": numbers, "reason": "scripted"}
        return row | _given({"text": text, "same_as": same_as})

    def _numbers(self, texts: Iterable[str], memories: Iterable[OfferedMemory]) -> list[int]:
        """Return the numbers of the memories with *texts*; one that was not given is a problem of the script."""
        numbers = {memory.fact: memory.number for memory in memories}
        self._script().problems += [f"no memory {text!r} was given" for text in texts if text not in numbers]
        return [numbers[text] for text in texts if text in numbers]


def play_scripted(player: Player, models: ScriptedModels, case: Case) -> tuple[Judgement, Script]:
    """Return the judgement on what the replies of *case* make of it, and the script after that."""
    models.script = Script(case)
    played = player.play(case)
    return judged(case, played.after, played.failure), models.script


def play_all(player: Player, cases: Iterable[Case]) -> list[Judgement]:
    """Return the judgements on what the model of *player* makes of *cases*."""
    played = [(case, player.play(case)) for case in cases]
    return [judged(case, one.after, one.failure) for case, one in played]


def explained(judgements: Iterable[Judgement]) -> str:
    """Return a line for each fault."""
    return "\n".join(f"{one.case.kind}/{one.case.id}: {fault}" for one in judgements for fault in one.faults)


def _create(number: int, text: str) -> dict[str, Any]:
    return {"fact": number, "action": "CREATE", "text": text, "reason": "scripted"}


def _placeholders(system: prompts.SystemText, prompt: str) -> Placeholders:
    return Placeholders.of(system.stable, prompt)


def _given(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
