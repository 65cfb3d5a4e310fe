"""What became of a step."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """How a step ended."""

    PASSED = "passed"
    FAILED = "FAILED"
    SKIPPED = "SKIPPED"


@dataclass(frozen=True)
class Outcome:
    """A step's verdict, with a line that says what was seen, why it failed, or why it could not be done."""

    verdict: Verdict
    detail: str


def passed(detail: str) -> Outcome:
    return Outcome(Verdict.PASSED, detail)


def failed(detail: str) -> Outcome:
    return Outcome(Verdict.FAILED, detail)


def skipped(detail: str) -> Outcome:
    return Outcome(Verdict.SKIPPED, detail)


class UnmetError(Exception):
    """What a step needs is not there."""


@dataclass(frozen=True)
class Step:
    """Something to be proved."""

    claim: str
    prove: Callable[[], Outcome]


def prove(step: Step) -> Outcome:
    """Return what became of *step*, whatever happens."""
    try:
        return step.prove()
    except UnmetError as unmet:
        return skipped(str(unmet))
    except Exception as error:  # noqa: BLE001  one step that breaks keeps no other from being tried
        return failed(f"{type(error).__name__}: {error}")


def summary(outcomes: Sequence[tuple[Step, Outcome]]) -> list[str]:
    """Return a line for each step, and one that counts them."""
    width = max(len(step.claim) for step, _ in outcomes)
    lines = [f"{step.claim:{width}}  {outcome.verdict:8}  {outcome.detail}" for step, outcome in outcomes]
    counts = [sum(outcome.verdict is verdict for _, outcome in outcomes) for verdict in Verdict]
    return [*lines, "", ", ".join(f"{count} {verdict.lower()}" for count, verdict in zip(counts, Verdict, strict=True))]
