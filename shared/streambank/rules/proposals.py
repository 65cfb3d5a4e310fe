"""The first answer of a model, checked: what is proposed for each candidate, and why the model is asked again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from streambank.model.extraction import FactChange
from streambank.model.memory import Memory
from streambank.model.plan import FORGET, Candidate
from streambank.rules import nearness, wording
from streambank.rules.consolidation import is_forget_request
from streambank.rules.grounding import MAX_FACT_BYTES

# Why a model is asked again about a fact.
FACT_DOUBT = "its words are in no turn"
TEXT_DOUBT = "the words of its text are in no turn"
FORGETS = "something is to be forgotten"
SEVERAL = "several memories are named"
OTHER_WORDS = "its text has no word of the memory"
CLOSE = "it is close to another fact or memory"
UNDECIDED = "what it means for the memories is not known"
CHANGED = "a memory has changed since it was read"


@dataclass(frozen=True, slots=True)
class Proposal:
    """What the first answer means for a candidate: *memories* are those that it names and that still exist.

    *doubts* are the reasons to ask again; without any, the proposal is carried out.
    """

    candidate: Candidate
    change: FactChange | None
    memories: tuple[Memory, ...] = ()
    text: str = ""
    doubts: tuple[str, ...] = ()

    @property
    def is_forgetting(self) -> bool:
        """Tell whether the first answer takes it for a request to forget."""
        return self.change is FactChange.FORGETS


def doubts_of_words(candidate: Candidate, known: Sequence[str]) -> tuple[str, ...]:
    """Return the doubts about a candidate's fact and text whose names and numbers none of the *known* texts has."""
    doubts = [FACT_DOUBT] if wording.unsupported(candidate.fact.removeprefix(FORGET), known) else []
    if candidate.text and wording.unsupported(candidate.text, known):
        doubts.append(TEXT_DOUBT)
    return tuple(doubts)


def propose(candidates: Sequence[Candidate], memories: Sequence[Memory], read: Mapping[str, str]) -> list[Proposal]:
    """Return what is proposed for each of *candidates*, which all are open.

    *memories* are the eligible ones of the scope as they are now. *read* maps the id of each memory that the model was
    given to its fingerprint then.
    """
    return [_proposal(number, candidates, memories, read) for number in range(len(candidates))]


def _proposal(
    number: int, candidates: Sequence[Candidate], memories: Sequence[Memory], read: Mapping[str, str]
) -> Proposal:
    candidate = candidates[number]
    checked = _checked(candidate, memories)
    doubts = [*candidate.doubts, *_doubts(checked, read)]
    others = [one for index, one in enumerate(candidates) if index != number]
    if checked.change in (FactChange.NEW, None) and _is_close(candidate, others, memories, read):
        doubts.append(CLOSE)
    if checked.change is None and memories:
        doubts.append(UNDECIDED)
    return Proposal(candidate, checked.change, checked.memories, checked.text, tuple(dict.fromkeys(doubts)))


def _checked(candidate: Candidate, memories: Sequence[Memory]) -> Proposal:
    """Return what is proposed, as far as it makes sense: equal texts repeat, a change needs a memory and a text."""
    if is_forget_request(candidate):
        return Proposal(candidate, FactChange.FORGETS, _named(candidate, memories))
    equal = [one for one in memories if wording.normalized(one.fact) == wording.normalized(candidate.fact)]
    if equal:
        return Proposal(candidate, FactChange.REPEATS, (equal[0],))
    named = _named(candidate, memories)
    match candidate.change:
        case FactChange.REPEATS | FactChange.CHANGES if not named:
            return Proposal(candidate, None)
        case FactChange.REPEATS:
            return Proposal(candidate, FactChange.REPEATS, named)
        case FactChange.CHANGES:
            return _checked_change(candidate, named)
    return Proposal(candidate, candidate.change)


def _checked_change(candidate: Candidate, named: tuple[Memory, ...]) -> Proposal:
    """Return a change of memories: a text that is too long makes a memory of the fact, an equal one changes nothing."""
    text = candidate.text or candidate.fact
    if len(text.encode()) > MAX_FACT_BYTES:
        return Proposal(candidate, FactChange.NEW)
    is_equal = wording.normalized(text) == wording.normalized(named[0].fact)
    return Proposal(candidate, FactChange.REPEATS if is_equal else FactChange.CHANGES, named, text)


def _named(candidate: Candidate, memories: Sequence[Memory]) -> tuple[Memory, ...]:
    by_id = {memory.id: memory for memory in memories}
    return tuple(by_id[one] for one in dict.fromkeys(candidate.memory_ids) if one in by_id)


def _doubts(proposal: Proposal, read: Mapping[str, str]) -> list[str]:
    """Return why a proposal about memories is destructive or doubtful."""
    doubts = [FORGETS] if proposal.is_forgetting else []
    if len(proposal.memories) > 1:
        doubts.append(SEVERAL)
    named = [one for one in proposal.memories if one.id in proposal.candidate.memory_ids]
    if any(read.get(memory.id) != memory.fingerprint for memory in named):
        doubts.append(CHANGED)
    if proposal.change is FactChange.CHANGES and not any(
        wording.share_words(proposal.text, memory.fact) for memory in proposal.memories
    ):
        doubts.append(OTHER_WORDS)
    return doubts


def _is_close(
    candidate: Candidate, others: Sequence[Candidate], memories: Sequence[Memory], read: Mapping[str, str]
) -> bool:
    """Tell whether a new fact is close to a memory that was not read, or to another new fact."""
    unread = [memory for memory in memories if memory.id not in read]
    new = [one for one in others if one.change in (FactChange.NEW, None) and not is_forget_request(one)]
    return nearness.has_close_fact(candidate, new) or bool(nearness.close_to(candidate, unread))
