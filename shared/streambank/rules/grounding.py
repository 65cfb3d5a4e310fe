"""Which proposed facts may go on: those that cite events of their own window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from streambank.model.event import StoredEvent
from streambank.model.plan import Candidate

UNGROUNDED = "cites no event of this window"
BLANK = "blank"
TOO_LONG = "longer than 8 KB"
REPEATED = "repeated within the window"
MAX_FACT_BYTES = 8_192


def grounded(
    fact: str, citations: Sequence[int], topic: str | None, shown: Mapping[int, StoredEvent], own: frozenset[int]
) -> Candidate:
    """Return the candidate that *fact* is, with the reason where it is refused.

    *shown* maps the numbers in the prompt to events, *own* holds the numbers of the window's own events.
    """
    cited = [shown[number] for number in dict.fromkeys(citations) if number in shown]
    at = max((event.order()[0] for event in cited), default=max(event.order()[0] for event in shown.values()))
    is_grounded = any(number in own for number in citations)
    return Candidate(
        fact=fact.strip()[:MAX_FACT_BYTES],
        seqs=tuple(sorted(event.seq for event in cited)),
        at=at,
        topics=(topic,) if topic else (),
        rejected=_refusal(fact.strip(), is_grounded=is_grounded),
    )


def _refusal(fact: str, *, is_grounded: bool) -> str:
    if not fact:
        return BLANK
    if len(fact.encode()) > MAX_FACT_BYTES:
        return TOO_LONG
    return "" if is_grounded else UNGROUNDED


def without_repeats(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return *candidates* with every later copy of a fact refused; its citations join those of the first."""
    first: dict[str, int] = {}
    kept = list(candidates)
    for index, candidate in enumerate(kept):
        known = first.setdefault(" ".join(candidate.fact.casefold().split()), index)
        if candidate.rejected or known == index:
            continue
        original = kept[known]
        kept[known] = replace(
            original, seqs=tuple(sorted({*original.seqs, *candidate.seqs})), at=max(original.at, candidate.at)
        )
        kept[index] = replace(candidate, rejected=REPEATED)
    return kept
