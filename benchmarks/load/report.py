"""What the load has measured, in lines."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.load.counting import KINDS
from benchmarks.load.driving import Answer

_QUANTILES = (50, 90, 99)


@dataclass(frozen=True, slots=True)
class Run:
    """One scenario: its answers, the seconds that it took, and the lost races, where they could be seen."""

    name: str
    answers: Sequence[Answer]
    seconds: float
    requests: Counter[str] | None = None
    conflicts: Counter[str] | None = None


def quantile(values: Sequence[float], percent: int) -> float:
    """Return the value that *percent* of all are at most."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


def lines(run: Run, idle_seconds: float) -> Iterator[str]:
    """Yield what is to be told of a scenario; latencies also as multiples of an idle call's."""
    events = sum(len(answer.call.events) for answer in run.answers)
    yield (
        f"{run.name:12}{len(run.answers):>7} calls{events:>8} events"
        f"{len(run.answers) / run.seconds:>8.1f} calls/s{events / run.seconds:>9.1f} events/s"
    )
    if not run.answers:
        return
    seconds = [answer.seconds for answer in run.answers]
    spread = [quantile(seconds, percent) for percent in _QUANTILES]
    yield f"{'':12}latency  " + "  ".join(
        f"p{percent} {value * 1000:.0f} ms (x{value / idle_seconds:.1f})"
        for percent, value in zip(_QUANTILES, spread, strict=True)
    )
    yield f"{'':12}{_told(run)}"


def _told(run: Run) -> str:
    statuses = Counter(status or "none" for answer in run.answers for status in answer.statuses)
    again = sum(len(answer.statuses) - 1 for answer in run.answers)
    told = ", ".join(f"{status}: {count}" for status, count in sorted(statuses.items(), key=str))
    lost = "conflicts not seen from outside"
    if run.requests is not None and run.conflicts is not None:
        lost = "lost races: " + ", ".join(f"{run.conflicts[k]} of {run.requests[k]} {k}s" for k in KINDS)
    duplicates = sum(answer.duplicates for answer in run.answers)
    return f"statuses {told}; calls sent again {again}; duplicates {duplicates}; {lost}"


def idle(answers: Sequence[Answer]) -> float:
    """Return the median of calls that were alone."""
    return statistics.median(answer.seconds for answer in answers)
