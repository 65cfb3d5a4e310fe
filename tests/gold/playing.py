"""A case of the gold set, played through the real pipeline over an emulated table."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from streambank.llm.ports import (
    Action,
    Consolidation,
    ConsolidationRequest,
    Consolidator,
    Decision,
    Embedder,
    ExtractedFact,
    Extraction,
    ExtractionRequest,
    Extractor,
)
from streambank.model.bank import Bank
from streambank.model.window import WindowState
from streambank.pipeline.memories.edit import EditContext, create_memory
from streambank.rules.edits import Edit
from streambank.store import keys
from streambank_local.basic.consolidator import BasicConsolidator
from streambank_local.basic.embedder import WordLlamaEmbedder
from streambank_local.basic.extractor import BasicExtractor
from tests import aws
from tests.gold.loading import Case, Judgement, Said, Verdict, Window, judged
from tests.world import SCOPE, HashEmbedder, World, event


@dataclass
class Model:
    """What generates: the three ports."""

    extractor: Extractor
    consolidator: Consolidator
    embedder: Embedder


EMBEDDED = Model(BasicExtractor(), BasicConsolidator(), WordLlamaEmbedder())


def embedded(_case: Case) -> Model:
    """Return the model that is built in."""
    return EMBEDDED


@dataclass
class Script:
    """A model that answers window after window as its case says, and notes what it was asked."""

    case: Case
    extracted: int = 0
    decided: list[int] = field(default_factory=list)

    def extract(self, request: ExtractionRequest) -> Extraction:
        window = self.case.windows[self.extracted]
        self.extracted += 1
        shown = sum(not turn.context for turn in request.turns)
        assert shown <= len(window.events), f"{shown} own events were shown, {len(window.events)} were sent"
        facts = (ExtractedFact(reply.fact, reply.events, reply.topic) for reply in window.record_facts)
        return Extraction(tuple(facts))

    def consolidate(self, request: ConsolidationRequest) -> Consolidation:
        self.decided.append(self.extracted)
        numbers = {memory.fact: memory.number for memory in request.memories}
        window = self.case.windows[self.extracted - 1]
        facts = {number: reply.fact for number, reply in enumerate(window.record_facts, 1)}
        told = {facts.get(verdict.fact): verdict for verdict in window.consolidate}
        decisions = (_decision(told.get(fact.fact), fact.number, fact.fact, numbers) for fact in request.facts)
        return Consolidation(tuple(decisions))

    def unused(self) -> list[int]:
        """Return the numbers of windows whose decisions nobody asked for."""
        numbered = enumerate(self.case.windows, 1)
        return [number for number, window in numbered if window.consolidate and number not in self.decided]


def scripted(script: Script) -> Model:
    """Return the model that gives the replies of *script*."""
    return Model(script, script, HashEmbedder())


def _decision(verdict: Verdict | None, number: int, fact: str, numbers: dict[str, int]) -> Decision:
    """Return *verdict* with the number of the memory that it names; a fact without one is new."""
    if verdict is None:
        return Decision(number, Action.CREATE, text=fact, reason="scripted")
    memories = () if verdict.memory is None else (numbers[verdict.memory],)
    return Decision(number, Action(verdict.action), memories, verdict.text or fact, "scripted")


def all_played(cases: Iterable[Case], model: Callable[[Case], Model]) -> list[Judgement]:
    """Return the judgements on what *model* makes of *cases*."""
    with aws.dynamodb() as client:
        return [played(client, case, model(case)) for case in cases]


def played(client: Any, case: Case, model: Model) -> Judgement:
    """Return the judgement on what *model* makes of *case*, played in a bank of its own."""
    world = World(client, extractor=model.extractor, consolidator=model.consolidator, embedder=model.embedder)
    _prepare(world, case)
    return judged(case, [_remembered(world, case.id, window) for window in case.windows])


def _prepare(world: World, case: Case) -> None:
    topics = [{"managedMemoryTopic": {"managedTopicEnum": name}} for name in case.bank.topics]
    custom = {"enableThirdPersonMemories": case.bank.third_person, "memoryTopics": topics}
    world.banks.create(Bank(case.id), {"customizationConfigs": [custom]})
    context = EditContext(
        world.memories,
        world.banks,
        world.embedder,
        world.token_budget,
        world.retry_policy,
        world.id_secret,
        world.clock(),
    )
    for number, fact in enumerate(case.memories, 1):
        edit = Edit(frozenset({"fact"}), fact=fact)
        create_memory(case.id, f"known-{number}", SCOPE, edit, repeats=lambda _memory: False, context=context)


def _remembered(world: World, bank: str, window: Window) -> list[str]:
    """Send the events of *window* a day after what went before, and return what the scope holds then."""
    world.clock.move(days=1)
    rule = {"eventCount": 1_000, **({"overlapEventCount": window.overlap} if window.overlap else {})}
    settings = {"timeZone": window.time_zone} if window.time_zone else {}
    sent = [_event(said) for said in window.events]
    receipt = world.ingest(*sent, bank=bank, streamId=window.stream, rule=rule, forceFlush=True, **settings)
    sid, number = receipt.operation.id.sid, receipt.operation.id.window
    # What the stream records of a sealed head and of a new window do; the table holds other cases too.
    for key in (keys.head(bank, sid), keys.window(bank, sid, number)):
        world.react(*key)
    world.run()
    generated = world.windows.get(bank, sid, number)
    assert generated is not None, "no window"
    assert generated.state is WindowState.DONE, f"the generation ended {generated.state}"
    return world.facts(bank=bank)


def _event(said: Said) -> dict[str, Any]:
    return event(said.text, role=said.role, **({"eventTime": said.at} if said.at else {}))
