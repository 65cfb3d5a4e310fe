"""Several callers at once, who send again what was not answered for good."""

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
# What a caller reads as "try again"; 0 stands for no answer at all.
AGAIN = frozenset({0, 429, 500, 502, 503, 504})
_LONGEST_PAUSE_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Limits:
    """When a scenario ends."""

    seconds: float
    calls: int


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a call: the status of each try, and what the last one said; *seconds* takes in all of them."""

    call: Call
    seconds: float
    statuses: tuple[int, ...]
    accepted: int = 0
    duplicates: int = 0

    @property
    def is_taken(self) -> bool:
        return self.statuses[-1] == 200


def drive(target: Target, calls: Iterator[Call], limits: Limits, *, callers: int, random: Random) -> list[Answer]:
    """Send *calls* by so many callers at once until a limit is met; return the answers."""
    drawing, end = threading.Lock(), time.monotonic() + limits.seconds
    left = iter(range(limits.calls))

    def draw() -> Call | None:
        with drawing:
            return next(calls) if time.monotonic() < end and next(left, None) is not None else None

    with ThreadPoolExecutor(callers) as pool:
        rolls = [Random(random.random()) for _ in range(callers)]
        working = [pool.submit(_caller, target, draw, roll) for roll in rolls]
        return [answer for one in working for answer in one.result()]


def _caller(target: Target, draw: Callable[[], Call | None], random: Random) -> list[Answer]:
    answers = []
    with target.client() as client:
        while (call := draw()) is not None:
            answers.append(send(client, call, random))
    return answers


def send(client: httpx.Client, call: Call, random: Random) -> Answer:
    """Send one call until it is taken or refused, or the tries are used up."""
    begun, statuses, body = time.perf_counter(), list[int](), call.body()
    for attempt in range(TRIES):
        if attempt:
            time.sleep(random.random() * min(_LONGEST_PAUSE_SECONDS, 0.1 * 2**attempt))
        status, said = _sent(client, body)
        statuses.append(status)
        if status not in AGAIN:
            break
    counts = (said.get("acceptedEvents", 0), said.get("duplicateEvents", 0))
    return Answer(call, time.perf_counter() - begun, tuple(statuses), *counts)


def _sent(client: httpx.Client, body: dict[str, object]) -> tuple[int, dict[str, int]]:
    """Return the status, 0 for none, and the operation's metadata where there is one."""
    try:
        reply = client.post(f"{BANK}/memories:ingestEvents", json=body)
    except httpx.TransportError:
        return 0, {}
    return reply.status_code, reply.json()["metadata"] if reply.status_code == 200 else {}
