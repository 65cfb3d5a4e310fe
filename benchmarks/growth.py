"""How costs grow with streams, memories and banks: counted AWS calls and request units, fitted by a line each.

`python -m benchmarks.growth` takes minutes up to n = 100, and half an hour up to 1,000 (`--most 1000`); docs/growth.md
carries the lines on to a million.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.growing import CASES, Case, Executions
from benchmarks.units import Bill, Meter
from tests import aws
from tests.world import World

SIZES = (1, 10, 100, 1_000)
# What a line may be off by before it is told: sizes are rounded up to units, and index pages to whole keys.
_CLOSE = 0.05


@dataclass(frozen=True, slots=True)
class Point:
    """What a case cost with so many of what it grows with."""

    count: int
    bill: Bill
    starts: int

    @property
    def calls(self) -> int:
        return self.bill.round_trips + self.starts


@dataclass(frozen=True, slots=True)
class Line:
    """A cost as a function of a count: *fixed* and for *each*; *error* is the furthest that a point is off it."""

    fixed: float
    each: float
    error: float = field(default=0.0)

    def at(self, count: int) -> float:
        return self.fixed + self.each * count

    def __str__(self) -> str:
        fixed, each = _rounded(self.fixed), _rounded(self.each)
        text = fixed if each == "0" else f"{each} n" if fixed == "0" else f"{fixed} + {each} n"
        return text if self.error <= _CLOSE else f"~ {text}"


def _rounded(number: float) -> str:
    return f"{number:.3g}" if abs(number) >= 5e-4 else "0"


def fitted(points: Sequence[tuple[int, float]]) -> Line:
    """Return the line through *points* that is off by least; a single one is taken for a constant."""
    counts, costs = [count for count, _ in points], [cost for _, cost in points]
    if len(set(costs)) == 1:
        return Line(costs[0], 0.0)
    each, fixed = statistics.linear_regression(counts, costs)
    errors = (abs(fixed + each * count - cost) / max(cost, 1) for count, cost in points)
    return Line(fixed, each, max(errors))


def measured(case: Case, count: int) -> Point:
    """Return what *case* costs with *count* of what it grows with, over an empty table."""
    with aws.dynamodb() as client:
        executions = Executions()
        world, meter = World(client, executions=executions), Meter(client, aws.TABLE)
        case.prepare(world, count)
        before = executions.calls
        with meter.running() as bill:
            case.work(world)
        return Point(count, bill, executions.calls - before)


def report(sizes: Sequence[int], cases: Sequence[Case] = CASES) -> Iterator[str]:
    """Yield a line for each case: calls as they were counted, and calls and units as functions of n."""
    shown = "".join(f"{f'n = {size}':>10}" for size in sizes)
    yield f"{'AWS calls':44}{shown}  {'calls':22}{'write units':22}read units"
    grows = ""
    for case in cases:
        if case.grows_with != grows:
            grows = case.grows_with
            yield f"n {grows}"
        points = [measured(case, size) for size in sizes]
        counted = "".join(f"{point.calls:>10}" for point in points)
        calls, writes, reads = (str(fitted([(p.count, cost(p)) for p in points])) for cost in _COSTS)
        yield f"  {case.name:42}{counted}  {calls:22}{writes:22}{reads}"


_COSTS: tuple[Callable[[Point], float], ...] = (
    lambda point: point.calls,
    lambda point: point.bill.write_units + point.bill.index_units,
    lambda point: point.bill.read_units,
)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("--most", type=int, default=100, choices=SIZES[1:], help="the largest n (default 100)")
    parser.add_argument("--only", default="", help="count only what has this in its name")
    asked: Any = parser.parse_args(arguments)
    cases = [case for case in CASES if asked.only in case.name]
    for line in report([size for size in SIZES if size <= asked.most], cases):
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
