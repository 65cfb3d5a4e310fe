"""Storms over fresh tables, one after the other or several at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from itertools import repeat
from typing import Any

from tests import aws
from tests.storm.storm import Storm


def rage(
    seed: int,
    events: int,
    *,
    epoch: int = 500,
    jobs: int = 1,
    tell: Callable[[int, Counter[str]], object] = lambda _accepted, _injected: None,
    **options: Any,
) -> tuple[int, Counter[str]]:
    """Let storms rage over fresh tables until *events* were sent; return what was accepted and what was injected.

    *jobs* tables rage at a time, each in a process of its own if there are several. *options* are those of `Storm`.
    *tell* hears of both after each table. Raises AssertionError with the seed of the table that does not hold.
    """
    numbers = range(-(-events // epoch))
    seeds = [seed * 1_000 + number for number in numbers]
    sizes = [min(epoch, events - number * epoch) for number in numbers]
    accepted, injected = 0, Counter[str]()
    with ExitStack() as stack:
        spread = stack.enter_context(ProcessPoolExecutor(jobs)).map if jobs > 1 else map
        for here, faults in spread(_rage_once, seeds, sizes, repeat(options)):
            accepted += here
            injected += faults
            tell(accepted, injected)
    return accepted, injected


def _rage_once(seed: int, events: int, options: dict[str, Any]) -> tuple[int, Counter[str]]:
    with aws.dynamodb() as client:
        storm = Storm(client, seed, events, **options)
        try:
            return storm.rage(), storm.injected
        except AssertionError as broke:
            raise AssertionError(f"table {seed}: {broke}") from broke
