"""Which proposed facts may go on: those that cite events of their own window."""

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
    fact: str, citations: Sequence[int], topic: str | None, shown: Mapping[int, StoredEvent], own: frozenset[int]
) -> Candidate:
    """Return the candidate that *fact* is, with the reason where it is refused.

    *shown* maps the numbers in the prompt to events, *own* holds the numbers of the window's own events.
    """
    cited = [shown[number] for number in dict.fromkeys(citations) if number in shown]
    at = max(map(_as_of, cited or shown.values()))
    is_grounded = any(number in own for number in citations)
    return Candidate(
        fact=fact.strip()[:MAX_FACT_BYTES],
        seqs=tuple(sorted(event.seq for event in cited)),
        at=at,
        topics=(topic,) if topic else (),
        rejected=_refusal(fact.strip(), is_grounded=is_grounded),
    )


def _as_of(event: StoredEvent) -> datetime:
    """A clock that is ahead must not freeze a memory: evidence is never newer than its arrival."""
    return min(event.order()[0], event.arrived)


def _refusal(fact: str, *, is_grounded: bool) -> str:
    if not fact:
        return BLANK
    if len(fact.encode()) > MAX_FACT_BYTES:
        return TOO_LONG
    return "" if is_grounded else UNGROUNDED


def restrict_to_topics(candidate: Candidate, topics: Collection[str]) -> Candidate:
    """Return *candidate*, refused if it belongs to none of *topics*; a request to forget belongs to all."""
    is_asked = not topics or not candidate.topics or candidate.topics[0] in topics
    if candidate.rejected or is_asked or candidate.fact.startswith(FORGET):
        return candidate
    return replace(candidate, rejected=OTHER_TOPIC)


def reject_repeats(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return *candidates* with every later copy of a fact refused; its citations join those of the first."""
    first: dict[str, int] = {}
    kept = list(candidates)
    for index, candidate in enumerate(kept):
        if candidate.rejected:
            continue
        known = first.setdefault(" ".join(candidate.fact.casefold().split()), index)
        if known == index:
            continue
        original = kept[known]
        kept[known] = replace(
            original, seqs=tuple(sorted({*original.seqs, *candidate.seqs})), at=max(original.at, candidate.at)
        )
        kept[index] = replace(candidate, rejected=REPEATED)
    return kept
