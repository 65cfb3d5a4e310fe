"""The measurements of the load, as lines of text."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.load.callers import CallResult
from benchmarks.load.request_counter import KINDS

_QUANTILES = (50, 90, 99)


@dataclass(frozen=True, slots=True)
class Run:
    """One scenario: its results, its duration, and its requests and conflicts, if the service is in this process."""

    name: str
    results: Sequence[CallResult]
    seconds: float
    requests: Counter[str] | None = None
    conflicts: Counter[str] | None = None


def quantile(values: Sequence[float], percent: int) -> float:
    """Return the smallest value that at least *percent* of all do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


def lines(run: Run, idle_seconds: float) -> Iterator[str]:
    """Yield the lines of a scenario; latencies also as multiples of an idle call's."""
    events = sum(len(result.call.events) for result in run.results)
    yield (
        f"{run.name:12}{len(run.results):>7} calls{events:>8} events"
        f"{len(run.results) / run.seconds:>8.1f} calls/s{events / run.seconds:>9.1f} events/s"
    )
    if not run.results:
        return
    seconds = [result.seconds for result in run.results]
    spread = [quantile(seconds, percent) for percent in _QUANTILES]
    yield f"{'':12}latency  " + "  ".join(
        f"p{percent} {value * 1000:.0f} ms (x{value / idle_seconds:.1f})"
        for percent, value in zip(_QUANTILES, spread, strict=True)
    )
    yield f"{'':12}{_counts(run)}"


def _counts(run: Run) -> str:
    statuses = Counter(status or "none" for result in run.results for status in result.statuses)
    retries = sum(len(result.statuses) - 1 for result in run.results)
    by_status = ", ".join(f"{status}: {count}" for status, count in sorted(statuses.items(), key=str))
    conflicts = "conflicts not seen from outside"
    if run.requests is not None and run.conflicts is not None:
        conflicts = "lost races: " + ", ".join(f"{run.conflicts[k]} of {run.requests[k]} {k}s" for k in KINDS)
    duplicates = sum(result.duplicates for result in run.results)
    return f"statuses {by_status}; calls sent again {retries}; duplicates {duplicates}; {conflicts}"


def median_seconds(results: Sequence[CallResult]) -> float:
    """Return the median of the calls' seconds."""
    return statistics.median(result.seconds for result in results)
