"""What a step of a plan does to the memories of its scope, and the verdict that says so."""

from __future__ import annotations

from collections.abc import Iterable, MutableMapping
from datetime import datetime

from streambank.model.memory import Change, Memory
from streambank.model.plan import Candidate, PlanStep
from streambank.model.verdict import RecordedVerdict
from streambank.rules import consolidation
from streambank.rules.consolidation import WindowPolicy


def applied(
    policy: WindowPolicy,
    new_id: str,
    candidate: Candidate,
    step: PlanStep,
    known: MutableMapping[str, Memory],
    *,
    now: datetime,
) -> Change | None:
    """Return the change that *step* makes, or None; *known* are the memories by their ids, as they are after it."""
    memory = known.pop(step.memory_id, None) if step.memory_id else None
    change = consolidation.change(policy, new_id, candidate, step, memory, now=now)
    after = change.after if change else memory
    if after and after.deleted is None:
        known[after.id] = after
    return change


def recorded(number: int, candidate: Candidate, step: PlanStep, change: Change | None) -> RecordedVerdict:
    """Return the verdict on candidate *number* that *step* is, with the revisions before and after its *change*."""
    before = change.before.revision if change and change.before else None
    return RecordedVerdict(
        number=number,
        verdict=step.verdict,
        fact=candidate.fact,
        reason=step.reason,
        memory_id=change.after.id if change else step.memory_id,
        revision=change.revision.number if change and change.revision else None,
        previous_revision=before or None,
    )


def counted(verdicts: Iterable[RecordedVerdict]) -> dict[str, int]:
    """Return the number of each verdict."""
    counts: dict[str, int] = {}
    for recorded in verdicts:
        counts[recorded.verdict] = counts.get(recorded.verdict, 0) + 1
    return counts
