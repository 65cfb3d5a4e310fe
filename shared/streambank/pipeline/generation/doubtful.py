"""The facts about which a model is asked again: what is destructive or doubtful, and the memories concerned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from streambank.llm.ports import Consolidation, ConsolidationRequest, OfferedFact, OfferedMemory
from streambank.model.bank import BankConfig
from streambank.model.decision import Decision
from streambank.model.memory import Memory
from streambank.rules import nearness, ranking
from streambank.rules.proposals import UNDECIDED, Proposal
from streambank.rules.second_answer import SecondAnswer


@dataclass(frozen=True, slots=True)
class DoubtfulFacts:
    """The *indexes* of doubtful proposals, in the order of their numbers from 1, and the *memories* they concern."""

    indexes: tuple[int, ...]
    memories: tuple[Memory, ...]

    @classmethod
    def of(cls, proposals: Sequence[Proposal], memories: Sequence[Memory]) -> DoubtfulFacts:
        """Return the doubtful ones of *proposals* with the memories that they name or are close to."""
        indexes = tuple(index for index, one in enumerate(proposals) if one.doubts)
        doubtful = [proposals[index] for index in indexes]
        named = [memory for one in doubtful for memory in one.memories]
        near = [memory for one in doubtful for memory in nearness.close_to(one.candidate, memories)]
        nearest = ranking.nearest_to_candidates([one.candidate for one in doubtful if _is_open(one)], memories)
        concerned = {memory.id: memory for memory in [*named, *near, *nearest]}
        return cls(indexes, tuple(nearness.within_characters(concerned.values())))

    def request(
        self,
        proposals: Sequence[Proposal],
        turns: Sequence[Sequence[str]],
        earlier: Mapping[str, tuple[str, ...]],
        config: BankConfig,
    ) -> ConsolidationRequest:
        """Return the request; *turns* are the texts that each fact cites, *earlier* the former texts of memories."""
        numbers = {memory.id: number for number, memory in enumerate(self.memories, 1)}
        facts = (
            _offered(number, proposals[index], numbers, turns[number - 1])
            for number, index in enumerate(self.indexes, 1)
        )
        memories = (
            OfferedMemory(number, memory.fact, memory.as_of, earlier.get(memory.id, ()))
            for number, memory in enumerate(self.memories, 1)
        )
        return ConsolidationRequest(tuple(facts), tuple(memories), config.third_person, config.model)

    def answer(self, answer: Consolidation, turns: Sequence[Sequence[str]]) -> SecondAnswer:
        """Return the decisions of *answer* by the indexes of their proposals; numbers of no fact are dropped."""
        indexes = dict(enumerate(self.indexes, 1))
        decisions: dict[int, list[Decision]] = {}
        for one in answer.decisions:
            if one.fact in indexes:
                decisions.setdefault(indexes[one.fact], []).append(one)
        known = {index: turns[number] for number, index in enumerate(self.indexes)}
        return SecondAnswer(decisions, self.memories, known, indexes)


def _is_open(proposal: Proposal) -> bool:
    """Tell whether it may be about memories that the first answer did not name."""
    return proposal.is_forgetting or UNDECIDED in proposal.doubts


def _offered(number: int, proposal: Proposal, numbers: Mapping[str, int], turns: Sequence[str]) -> OfferedFact:
    candidate = proposal.candidate
    memories = tuple(numbers[one.id] for one in proposal.memories if one.id in numbers)
    topic = candidate.topics[0] if candidate.topics else None
    return OfferedFact(
        number, candidate.fact, topic, candidate.at, proposal.change, memories, proposal.text, tuple(turns)
    )
