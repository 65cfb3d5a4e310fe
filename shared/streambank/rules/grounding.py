"""Checks proposed facts: a fact must cite an event of its own window."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from streambank.model.event import StoredEvent
from streambank.model.plan import FORGET, Candidate

UNGROUNDED = "cites no event of this window"
BLANK = "blank"
OTHER_TOPIC = "its topic is not asked for"
TOO_LONG = "longer than 8 KB"
REPEATED = "repeated within the window"
MAX_FACT_BYTES = 8_192


def ground(
    fact: str, citations: Sequence[int], topic: str | None, numbered: Mapping[int, StoredEvent], own: frozenset[int]
) -> Candidate:
    """Return *fact* as a candidate, rejected with a reason if it breaks a rule.

    *numbered* maps the numbers in the prompt to events, *own* holds the numbers of the window's own events.
    """
    cited = [numbered[number] for number in dict.fromkeys(citations) if number in numbered]
    at = max(map(_as_of, cited or numbered.values()))
    is_grounded = any(number in own for number in citations)
    return Candidate(
        fact=fact.strip()[:MAX_FACT_BYTES],
        seqs=tuple(sorted(event.seq for event in cited)),
        at=at,
        topics=(topic,) if topic else (),
        rejected=_rejection(fact.strip(), is_grounded=is_grounded),
    )


def _as_of(event: StoredEvent) -> datetime:
    """Return the time of *event*, its arrival at the latest: a caller's clock may be ahead."""
    return min(event.order()[0], event.arrived)


def _rejection(fact: str, *, is_grounded: bool) -> str:
    if not fact:
        return BLANK
    if len(fact.encode()) > MAX_FACT_BYTES:
        return TOO_LONG
    return "" if is_grounded else UNGROUNDED


def restrict_to_topics(candidate: Candidate, topics: Collection[str]) -> Candidate:
    """Return *candidate*, rejected if its topic is not in *topics*; a request to forget fits every topic."""
    is_on_topic = not topics or not candidate.topics or candidate.topics[0] in topics
    if candidate.rejected or is_on_topic or candidate.fact.startswith(FORGET):
        return candidate
    return replace(candidate, rejected=OTHER_TOPIC)


def reject_repeats(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return *candidates* with every repeated fact rejected; its citations are added to the first one."""
    first: dict[str, int] = {}
    checked = list(candidates)
    for index, candidate in enumerate(checked):
        if candidate.rejected:
            continue
        original_index = first.setdefault(" ".join(candidate.fact.casefold().split()), index)
        if original_index == index:
            continue
        original = checked[original_index]
        checked[original_index] = replace(
            original, seqs=tuple(sorted({*original.seqs, *candidate.seqs})), at=max(original.at, candidate.at)
        )
        checked[index] = replace(candidate, rejected=REPEATED)
    return checked
