"""Who calls how: each scenario is an endless sequence of calls that all callers draw from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from random import Random

from benchmarks.load.calls import Call, Stream

Scenario = Callable[[Sequence[Stream], Random, Iterator[int]], Iterator[Call]]

# What a transaction takes besides HEAD, and what a call takes.
SMALLEST_LARGE, LARGEST = 97, 1_000
_SESSION_STEP, _SESSION = 4, 60


def many(streams: Sequence[Stream], random: Random, serial: Iterator[int]) -> Iterator[Call]:
    """Small calls to any of many streams, of which each two share a scope."""
    while True:
        yield _new(random.choice(streams), random.randint(1, 10), serial)


def hot(streams: Sequence[Stream], _random: Random, serial: Iterator[int]) -> Iterator[Call]:
    """All callers write one event a call to one stream."""
    while True:
        yield _new(streams[0], 1, serial)


def large(streams: Sequence[Stream], random: Random, serial: Iterator[int]) -> Iterator[Call]:
    """Calls of 97 to 1,000 events, which are written in parts."""
    while True:
        yield _new(random.choice(streams), random.randint(SMALLEST_LARGE, LARGEST), serial)


def duplicates(streams: Sequence[Stream], random: Random, serial: Iterator[int]) -> Iterator[Call]:
    """Each call comes twice, at once if there are two callers; then sessions that send all they have at every turn."""
    while True:
        call = _new(random.choice(streams), random.randint(1, 30), serial)
        yield from (call, call)
        yield from _session(random.choice(streams), serial)


def _session(stream: Stream, serial: Iterator[int]) -> Iterator[Call]:
    said: tuple[int, ...] = ()
    while len(said) < _SESSION:
        said += tuple(islice(serial, _SESSION_STEP))
        yield Call(stream, said)


def mixed(streams: Sequence[Stream], random: Random, serial: Iterator[int]) -> Iterator[Call]:
    """A bit of everything, large calls seldom, some streams hotter than others."""
    warm = streams[: max(1, len(streams) // 10)]
    ways = (many(streams, random, serial), duplicates(streams, random, serial), hot(warm, random, serial))
    huge = large(streams, random, serial)
    while True:
        yield next(huge if random.random() < 0.02 else random.choice(ways))


def _new(stream: Stream, size: int, serial: Iterator[int]) -> Call:
    return Call(stream, tuple(islice(serial, size)))


SCENARIOS: dict[str, Scenario] = {
    "many": many,
    "hot": hot,
    "large": large,
    "duplicates": duplicates,
    "mixed": mixed,
}
