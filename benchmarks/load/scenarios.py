"""The scenarios: each is an endless sequence of calls, shared by all callers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from random import Random

from benchmarks.load.calls import Call, Stream

Scenario = Callable[[Sequence[Stream], Random, Iterator[int]], Iterator[Call]]

# The most events of one transaction, and of one call.
SMALLEST_LARGE, LARGEST = 97, 1_000
_SESSION_STEP, _SESSION = 4, 60


def many(streams: Sequence[Stream], random: Random, serial: Iterator[int]) -> Iterator[Call]:
    """Small calls to any of many streams, of which each two share a scope."""
    while True:
        yield _new(random.choice(streams), random.randint(1, 10), serial)


def hot(streams: Sequence[Stream], _random: Random, serial: Iterator[int]) -> Iterator[Call]:
    """All callers write to one stream, one event a call."""
    while True:
        yield _new(streams[0], 1, serial)


def large(streams: Sequence[Stream], random: Random, serial: Iterator[int]) -> Iterator[Call]:
    """Calls of 97 to 1,000 events, which are written in parts."""
    while True:
        yield _new(random.choice(streams), random.randint(SMALLEST_LARGE, LARGEST), serial)


def duplicates(streams: Sequence[Stream], random: Random, serial: Iterator[int]) -> Iterator[Call]:
    """Each call comes twice, at the same time if there are two callers; then sessions that resend all their events."""
    while True:
        call = _new(random.choice(streams), random.randint(1, 30), serial)
        yield from (call, call)
        yield from _session(random.choice(streams), serial)


def _session(stream: Stream, serial: Iterator[int]) -> Iterator[Call]:
    events: tuple[int, ...] = ()
    while len(events) < _SESSION:
        events += tuple(islice(serial, _SESSION_STEP))
        yield Call(stream, events)


def mixed(streams: Sequence[Stream], random: Random, serial: Iterator[int]) -> Iterator[Call]:
    """All scenarios mixed: few large calls, and some streams with more calls than others."""
    hot_streams = streams[: max(1, len(streams) // 10)]
    scenarios = (many(streams, random, serial), duplicates(streams, random, serial), hot(hot_streams, random, serial))
    huge = large(streams, random, serial)
    while True:
        yield next(huge if random.random() < 0.02 else random.choice(scenarios))


def _new(stream: Stream, size: int, serial: Iterator[int]) -> Call:
    return Call(stream, tuple(islice(serial, size)))


SCENARIOS: dict[str, Scenario] = {
    "many": many,
    "hot": hot,
    "large": large,
    "duplicates": duplicates,
    "mixed": mixed,
}
