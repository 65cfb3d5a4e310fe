"""How costs grow with streams, memories and banks: counted AWS calls and request units, and a line through each.

`python -m benchmarks.growth` takes minutes up to n = 100, and half an hour up to 1,000 (`--most 1000`); docs/growth.md
extrapolates to a million.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.growth_cases import CASES, Case, Executions
from benchmarks.units import Bill, Meter
from tests import aws
from tests.world import World

SIZES = (1, 10, 100, 1_000)
# A fit with a larger relative error is marked with ~: sizes are rounded up to units, and index pages to whole keys.
_TOLERANCE = 0.05


@dataclass(frozen=True, slots=True)
class Point:
    """The cost of a case at one count."""

    count: int
    bill: Bill
    starts: int

    @property
    def calls(self) -> int:
        return self.bill.round_trips + self.starts


@dataclass(frozen=True, slots=True)
class Line:
    """A cost as a linear function of a count; *error* is the largest relative error of a point."""

    fixed: float
    each: float
    error: float = field(default=0.0)

    def at(self, count: int) -> float:
        return self.fixed + self.each * count

    def __str__(self) -> str:
        fixed, each = _format(self.fixed), _format(self.each)
        text = fixed if each == "0" else f"{each} n" if fixed == "0" else f"{fixed} + {each} n"
        return text if self.error <= _TOLERANCE else f"~ {text}"


def _format(number: float) -> str:
    return f"{number:.3g}" if abs(number) >= 5e-4 else "0"


def fit(points: Sequence[tuple[int, float]]) -> Line:
    """Return the least-squares line through *points*; equal costs give a constant."""
    counts, costs = [count for count, _ in points], [cost for _, cost in points]
    if len(set(costs)) == 1:
        return Line(costs[0], 0.0)
    each, fixed = statistics.linear_regression(counts, costs)
    errors = (abs(fixed + each * count - cost) / max(cost, 1) for count, cost in points)
    return Line(fixed, each, max(errors))


def measure(case: Case, count: int) -> Point:
    """Return the cost of *case* at *count*, over an empty table."""
    with aws.dynamodb() as client:
        executions = Executions()
        world, meter = World(client, executions=executions), Meter(client, aws.TABLE)
        case.prepare(world, count)
        before = executions.calls
        with meter.running() as bill:
            case.work(world)
        return Point(count, bill, executions.calls - before)


def report(sizes: Sequence[int], cases: Sequence[Case] = CASES) -> Iterator[str]:
    """Yield a line for each case: the counted calls, and calls and units as functions of n."""
    counts = "".join(f"{f'n = {size}':>10}" for size in sizes)
    yield f"{'AWS calls':44}{counts}  {'calls':22}{'write units':22}read units"
    grows = ""
    for case in cases:
        if case.grows_with != grows:
            grows = case.grows_with
            yield f"n {grows}"
        points = [measure(case, size) for size in sizes]
        counted = "".join(f"{point.calls:>10}" for point in points)
        calls, writes, reads = (str(fit([(p.count, cost(p)) for p in points])) for cost in _COSTS)
        yield f"  {case.name:42}{counted}  {calls:22}{writes:22}{reads}"


_COSTS: tuple[Callable[[Point], float], ...] = (
    lambda point: point.calls,
    lambda point: point.bill.write_units + point.bill.index_units,
    lambda point: point.bill.read_units,
)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("--most", type=int, default=100, choices=SIZES[1:], help="the largest n (default 100)")
    parser.add_argument("--only", default="", help="count only the cases with this in their names")
    options: Any = parser.parse_args(arguments)
    cases = [case for case in CASES if options.only in case.name]
    for line in report([size for size in SIZES if size <= options.most], cases):
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
