"""Where the slices of a plan end: each is one transaction of at most 100 actions and 4 MB."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from streambank.model.memory import Change
from streambank.model.plan import Candidate, PlanStep
from streambank.model.review import Review
from streambank.model.verdict import RecordedVerdict

# A change is at most five actions (memory, id look-up, two revisions, citation); window, version, registry entry and
# verdicts are four more.
MAX_CHANGES = 12
# The changes of one candidate share a transaction: six actions each, of at most a hundred.
MAX_STEPS = 15
MAX_VERDICTS = 40
# The verdicts of a slice are one item, which stays below 350 KB also where they are not compressed.
MAX_VERDICT_BYTES = 340_000
# Beside the changes, a transaction has the verdicts and the requests to forget.
MAX_CHANGE_BYTES = 3_000_000


@dataclass(frozen=True, slots=True)
class AppliedStep:
    """The verdicts on a candidate, one for each memory, and its changes, with the bytes that both are stored in.

    *reviews* are changes that wait; their bytes are among those of the changes.
    """

    verdicts: tuple[RecordedVerdict, ...]
    changes: tuple[Change, ...] = ()
    verdict_bytes: int = 0
    change_bytes: int = 0
    reviews: tuple[Review, ...] = ()


def divided(
    candidates: Sequence[Candidate], steps: Sequence[PlanStep]
) -> tuple[list[PlanStep], list[tuple[Candidate, PlanStep]]]:
    """Return *steps* with at most fifteen memories each, and what was cut off: candidates again, with further steps."""
    short, rest = list[PlanStep](), list[tuple[Candidate, PlanStep]]()
    for candidate, step in zip(candidates, steps, strict=True):
        parts = [step.all[start : start + MAX_STEPS] for start in range(0, len(step.all), MAX_STEPS)]
        first, *others = [replace(part[0], others=tuple(part[1:])) for part in parts]
        short.append(first)
        rest += [(candidate, one) for one in others]
    return short, rest


def slices(steps: Iterable[AppliedStep]) -> Iterator[list[AppliedStep]]:
    """Yield *steps* in runs that fit into one transaction each, in which no memory or review is written twice.

    The changes of one candidate are never divided: they are at most fifteen.
    """
    run = list[AppliedStep]()
    for step in steps:
        if run and not _fits(run, step):
            yield run
            run = []
        run.append(step)
    if run:
        yield run


def _fits(run: list[AppliedStep], step: AppliedStep) -> bool:
    steps = [*run, step]
    changed = [change.after.id for one in steps for change in one.changes]
    changed += [review.id for one in steps for review in one.reviews]
    return (
        sum(len(one.verdicts) for one in steps) <= MAX_VERDICTS
        and len(changed) <= MAX_CHANGES
        and len(set(changed)) == len(changed)
        and sum(one.verdict_bytes for one in steps) <= MAX_VERDICT_BYTES
        and sum(one.change_bytes for one in steps) <= MAX_CHANGE_BYTES
    )
