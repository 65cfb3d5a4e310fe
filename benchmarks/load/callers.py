"""Several callers at once, which retry calls that failed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from random import Random

import httpx

from benchmarks.load.calls import Call
from benchmarks.load.target import BANK, Target

TRIES = 10
# The statuses that a caller retries; 0 stands for no reply.
RETRIED_STATUSES = frozenset({0, 429, 500, 502, 503, 504})
_LONGEST_PAUSE_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Limits:
    """When a scenario ends."""

    seconds: float
    calls: int


@dataclass(frozen=True, slots=True)
class CallResult:
    """The result of a call: the status of each try, the counts of the last reply, and the seconds of all tries."""

    call: Call
    seconds: float
    statuses: tuple[int, ...]
    accepted: int = 0
    duplicates: int = 0

    @property
    def is_accepted(self) -> bool:
        return self.statuses[-1] == 200


def drive(target: Target, calls: Iterator[Call], limits: Limits, *, callers: int, random: Random) -> list[CallResult]:
    """Send *calls* by *callers* threads until a limit is reached; return the results."""
    drawing, end = threading.Lock(), time.monotonic() + limits.seconds
    remaining = iter(range(limits.calls))

    def draw() -> Call | None:
        with drawing:
            return next(calls) if time.monotonic() < end and next(remaining, None) is not None else None

    with ThreadPoolExecutor(callers) as pool:
        randoms = [Random(random.random()) for _ in range(callers)]
        futures = [pool.submit(_call_until_done, target, draw, one) for one in randoms]
        return [result for future in futures for result in future.result()]


def _call_until_done(target: Target, draw: Callable[[], Call | None], random: Random) -> list[CallResult]:
    results = []
    with target.client() as client:
        while (call := draw()) is not None:
            results.append(send(client, call, random))
    return results


def send(client: httpx.Client, call: Call, random: Random) -> CallResult:
    """Send one call until it is accepted or refused, or TRIES are used up."""
    begun, statuses, body = time.perf_counter(), list[int](), call.body()
    for attempt in range(TRIES):
        if attempt:
            time.sleep(random.random() * min(_LONGEST_PAUSE_SECONDS, 0.1 * 2**attempt))
        status, metadata = _post(client, body)
        statuses.append(status)
        if status not in RETRIED_STATUSES:
            break
    counts = (metadata.get("acceptedEvents", 0), metadata.get("duplicateEvents", 0))
    return CallResult(call, time.perf_counter() - begun, tuple(statuses), *counts)


def _post(client: httpx.Client, body: dict[str, object]) -> tuple[int, dict[str, int]]:
    """Return the status, 0 for no reply, and the metadata of the operation, if there is one."""
    try:
        reply = client.post(f"{BANK}/memories:ingestEvents", json=body)
    except httpx.TransportError:
        return 0, {}
    return reply.status_code, reply.json()["metadata"] if reply.status_code == 200 else {}
