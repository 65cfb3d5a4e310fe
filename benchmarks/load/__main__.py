"""`python -m benchmarks.load`: puts load on a service in local mode and tells whether anything was lost or doubled."""

from __future__ import annotations

import argparse
import itertools
import logging
import sys
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from random import Random

from benchmarks.load import reading, report
from benchmarks.load.calls import Call, Stream
from benchmarks.load.driving import Answer, Limits, drive, send
from benchmarks.load.scenarios import SCENARIOS
from benchmarks.load.sent import books
from benchmarks.load.target import Refused, Target, counters, existing, own

_WARMING, _IDLE_CALLS = 3, 20
# Of an emulator in this process; each of them may be a thousand events.
_MOST = {"seconds": 600, "streams": 1_000, "callers": 32, "calls": 20_000}
_DEFAULTS = {"seconds": 10, "streams": 40, "callers": 8, "calls": 2_000}
_HELP = {
    "seconds": "how long each scenario is driven",
    "streams": "how many streams it has",
    "callers": "how many callers send at once",
    "calls": "how many calls a scenario makes at most",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 1 if anything was lost or doubled, 2 where no load may go, else 0."""
    asked = _asked(arguments)
    logging.basicConfig(level=logging.ERROR, format="%(levelname)s %(name)s: %(message)s")
    try:
        with nullcontext(existing(asked.url)) if asked.url else own() as target:
            found = list(_faults(target, asked))
    except Refused as refusal:
        print(f"benchmarks.load: {refusal}", file=sys.stderr)
        return 2
    print("\n" + "\n".join(found or ["nothing was lost, nothing was doubled"]))
    return int(bool(found))


def _asked(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__)
    parser.add_argument("--url", help="a service in local mode on this machine (default: one of our own)")
    for name, most in _MOST.items():
        default, allowed = _DEFAULTS[name], range(1, most + 1)
        told = f"{_HELP[name]}, at most {most} (default {default})"
        parser.add_argument(f"--{name}", type=int, default=default, choices=allowed, metavar="N", help=told)
    parser.add_argument("--scenario", action="append", choices=SCENARIOS, help="may be repeated (default all of them)")
    parser.add_argument("--seed", type=int, default=1, help="what the calls are drawn from (default 1)")
    return parser.parse_args(arguments)


def _faults(target: Target, asked: argparse.Namespace) -> Iterator[str]:
    """Drive the scenarios one after the other, print what each measured, and yield what is wrong after each."""
    serial, tag = itertools.count(1), uuid.uuid4().hex[:8]
    alone = _idle(target, Stream(f"{tag}-idle", "s"), serial, Random(asked.seed))
    idle_seconds = report.idle(alone[_WARMING:])
    print(f"an idle call of one event takes {idle_seconds * 1000:.0f} ms: the median of {_IDLE_CALLS}", flush=True)
    yield from reading.faults(target, books(alone))
    for name in asked.scenario or SCENARIOS:
        run = _run(target, name, asked, f"{tag}-{name}", serial)
        print("\n".join(report.lines(run, idle_seconds)), flush=True)
        yield from _told(reading.faults(target, books(run.answers)))
    with target.client() as client:
        print(f"executions started: {counters(client)['executionsStarted']}")


def _told(found: list[str]) -> list[str]:
    print(f"{'':12}invariants " + (f"BROKEN: {len(found)}" if found else "hold"), flush=True)
    return found


def _idle(target: Target, stream: Stream, serial: Iterator[int], random: Random) -> list[Answer]:
    with target.client() as client:
        return [send(client, Call(stream, (next(serial),)), random) for _ in range(_WARMING + _IDLE_CALLS)]


def _run(target: Target, name: str, asked: argparse.Namespace, tag: str, serial: Iterator[int]) -> report.Run:
    random = Random(f"{asked.seed} {name}")
    streams = [Stream(f"{tag}-{number // 2}", f"s{number % 2}") for number in range(asked.streams)]
    before = target.counting.so_far() if target.counting else None
    begun = time.perf_counter()
    calls = SCENARIOS[name](streams, random, serial)
    answers = drive(target, calls, Limits(asked.seconds, asked.calls), callers=asked.callers, random=random)
    seconds = time.perf_counter() - begun
    lost = target.counting.since(*before) if target.counting and before else (None, None)
    return report.Run(name, answers, seconds, *lost)


if __name__ == "__main__":
    sys.exit(main())
