"""The outcomes of steps."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """How a step ended."""

    PASSED = "passed"
    FAILED = "FAILED"
    SKIPPED = "SKIPPED"


@dataclass(frozen=True)
class Outcome:
    """A step's status, with a line of details or the reason."""

    status: Status
    detail: str


def passed(detail: str) -> Outcome:
    return Outcome(Status.PASSED, detail)


def failed(detail: str) -> Outcome:
    return Outcome(Status.FAILED, detail)


def skipped(detail: str) -> Outcome:
    return Outcome(Status.SKIPPED, detail)


class RequirementError(Exception):
    """A requirement of a step is missing."""


@dataclass(frozen=True)
class Step:
    """A claim, and the function that proves it."""

    claim: str
    prove: Callable[[], Outcome]


def prove(step: Step) -> Outcome:
    """Return the outcome of *step*; an exception is a failure."""
    try:
        return step.prove()
    except RequirementError as error:
        return skipped(str(error))
    except Exception as error:  # noqa: BLE001  the other steps run nevertheless
        return failed(f"{type(error).__name__}: {error}")


def summary(outcomes: Sequence[tuple[Step, Outcome]]) -> list[str]:
    """Return a line for each step, and a last one with counts."""
    width = max(len(step.claim) for step, _ in outcomes)
    lines = [f"{step.claim:{width}}  {outcome.status:8}  {outcome.detail}" for step, outcome in outcomes]
    counts = [sum(outcome.status is status for _, outcome in outcomes) for status in Status]
    return [*lines, "", ", ".join(f"{count} {status.lower()}" for count, status in zip(counts, Status, strict=True))]
