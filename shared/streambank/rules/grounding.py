"""Checks proposed facts: a fact must cite an event of its own window."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from streambank.model.event import StoredEvent
from streambank.model.extraction import FactChange
from streambank.model.memory import ManagedTopic
from streambank.model.plan import FORGET, Candidate
from streambank.model.turn import TurnRole
from streambank.rules import wording

UNGROUNDED = "cites no event of this window"
NOT_THE_USER = "only the assistant said it"
BLANK = "blank"
OTHER_TOPIC = "its topic is not asked for"
TOO_LONG = "longer than 8 KB"
REPEATED = "repeated within the window"
MAX_FACT_BYTES = 8_192


def ground(
    fact: str,
    citations: Sequence[int],
    topic: str | None,
    numbered: Mapping[int, StoredEvent],
    own: Mapping[int, TurnRole],
) -> Candidate:
    """Return *fact* as a candidate, rejected with a reason if it breaks a rule.

    *numbered* maps the numbers of the turns in the prompt to their events, *own* those of the window's own turns to
    their roles. Where the window has turns of the user, the fact has to cite one; the result of a tool is no statement
    of the user, even in one event with the user's words.
    """
    cited = [numbered[number] for number in dict.fromkeys(citations) if number in numbered]
    at = max(map(evidence_time, cited or numbered.values()))
    return Candidate(
        fact=fact.strip()[:MAX_FACT_BYTES],
        seqs=tuple(sorted({event.seq for event in cited})),
        at=at,
        topics=(topic,) if topic else (),
        rejected=_rejection(fact.strip(), citations, own),
    )


def evidence_time(event: StoredEvent) -> datetime:
    """Return the time of *event*, its arrival at the latest: a caller's clock may be ahead."""
    return min(event.order()[0], event.arrived)


def _rejection(fact: str, citations: Sequence[int], own: Mapping[int, TurnRole]) -> str:
    if not fact:
        return BLANK
    if len(fact.encode()) > MAX_FACT_BYTES:
        return TOO_LONG
    cited = own.keys() & citations
    if not cited:
        return UNGROUNDED
    users = {number for number, role in own.items() if role == "user"}
    return NOT_THE_USER if users and not users & cited else ""


def restrict_to_topics(candidate: Candidate, topics: Collection[str]) -> Candidate:
    """Return *candidate*, rejected if its topic is not in *topics*; a request to forget fits every topic.

    Where any topic will do, the candidate loses one that no topic of the bank has.
    """
    known = topics or list(ManagedTopic)
    if candidate.rejected or not candidate.topics or candidate.topics[0] in known:
        return candidate
    is_free = not topics or candidate.change is FactChange.FORGETS or candidate.fact.startswith(FORGET)
    return replace(candidate, topics=()) if is_free else replace(candidate, rejected=OTHER_TOPIC)


def reject_repeats(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return *candidates* with every repeated fact rejected; its citations are added to the first one."""
    first: dict[str, int] = {}
    checked = list(candidates)
    for index, candidate in enumerate(checked):
        if candidate.rejected:
            continue
        original_index = first.setdefault(wording.normalized(candidate.fact), index)
        if original_index == index:
            continue
        original = checked[original_index]
        checked[original_index] = replace(
            original, seqs=tuple(sorted({*original.seqs, *candidate.seqs})), at=max(original.at, candidate.at)
        )
        checked[index] = replace(candidate, rejected=REPEATED)
    return checked
