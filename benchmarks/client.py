"""What importing the client library takes, as a multiple of what httpx and pydantic take."""

from __future__ import annotations

import statistics

from benchmarks.cpu import process_seconds

RUNS = 11
FLOOR = "import httpx, pydantic"
LIMIT = 1.3
# The library itself, what most programs import of it, and what they have imported when they use it.
LIMITED = ("import streambank_client", "from streambank_client import Streambank, AsyncStreambank, errors")
OTHERS = ("import httpx; from pydantic import BaseModel", "from streambank_client import Streambank, Event")


def ratio(code: str) -> float:
    """Return the CPU of a process that runs *code* beside one that runs the floor: a median of pairs."""
    return statistics.median(process_seconds(code) / process_seconds(FLOOR) for _ in range(RUNS))


def report() -> list[str]:
    """Return how many times the floor's CPU each import takes.

    The speed of a shared machine drifts, so ratios are taken pair by pair.
    """
    for code in (FLOOR, *LIMITED, *OTHERS):
        process_seconds(code)  # so that what is measured is compiled
    lines = [f"{'':68}{'x ' + FLOOR:>24}"]
    for code in (*LIMITED, *OTHERS):
        factor = ratio(code)
        limited = f"  (limit {LIMIT})" if factor <= LIMIT else f"  OVER THE LIMIT of {LIMIT}"
        lines.append(f"{code:68}{factor:>24.2f}{limited if code in LIMITED else ''}")
    return lines
