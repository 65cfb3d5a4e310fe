"""`python -m benchmarks.load`: puts load on a service in local mode and checks that nothing is lost or doubled."""

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

from benchmarks.load import inspection, report
from benchmarks.load.callers import CallResult, Limits, drive, send
from benchmarks.load.calls import Call, Stream
from benchmarks.load.scenarios import SCENARIOS
from benchmarks.load.sent_events import by_stream
from benchmarks.load.target import Target, TargetRefused, connect, counters, start_service

_WARM_UP_CALLS, _IDLE_CALLS = 3, 20
# Limits of an emulator in this process; a call may have a thousand events.
_MAXIMUM = {"seconds": 600, "streams": 1_000, "callers": 32, "calls": 20_000}
_DEFAULTS = {"seconds": 10, "streams": 40, "callers": 8, "calls": 2_000}
_HELP = {
    "seconds": "the seconds of each scenario",
    "streams": "the streams of each scenario",
    "callers": "the callers that send at once",
    "calls": "the calls of each scenario",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 1 if anything was lost or doubled, 2 if the target is refused, else 0."""
    options = _parse(arguments)
    logging.basicConfig(level=logging.ERROR, format="%(levelname)s %(name)s: %(message)s")
    try:
        with nullcontext(connect(options.url)) if options.url else start_service() as target:
            faults = list(_faults(target, options))
    except TargetRefused as refusal:
        print(f"benchmarks.load: {refusal}", file=sys.stderr)
        return 2
    print("\n" + "\n".join(faults or ["nothing was lost, nothing was doubled"]))
    return int(bool(faults))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__)
    parser.add_argument("--url", help="a service in local mode on this machine (default: start one)")
    for name, most in _MAXIMUM.items():
        default, allowed = _DEFAULTS[name], range(1, most + 1)
        text = f"{_HELP[name]}, at most {most} (default {default})"
        parser.add_argument(f"--{name}", type=int, default=default, choices=allowed, metavar="N", help=text)
    parser.add_argument("--scenario", action="append", choices=SCENARIOS, help="may be repeated (default all of them)")
    parser.add_argument("--seed", type=int, default=1, help="the seed of the random calls (default 1)")
    return parser.parse_args(arguments)


def _faults(target: Target, options: argparse.Namespace) -> Iterator[str]:
    """Run the scenarios one after the other, print the measurements of each, and yield the faults after each."""
    serial, tag = itertools.count(1), uuid.uuid4().hex[:8]
    results = _idle(target, Stream(f"{tag}-idle", "s"), serial, Random(options.seed))
    idle_seconds = report.median_seconds(results[_WARM_UP_CALLS:])
    print(f"an idle call of one event takes {idle_seconds * 1000:.0f} ms: the median of {_IDLE_CALLS}", flush=True)
    yield from inspection.find_faults(target, by_stream(results))
    for name in options.scenario or SCENARIOS:
        run = _run(target, name, options, f"{tag}-{name}", serial)
        print("\n".join(report.lines(run, idle_seconds)), flush=True)
        yield from _print_verdict(inspection.find_faults(target, by_stream(run.results)))
    with target.client() as client:
        print(f"executions started: {counters(client)['executionsStarted']}")


def _print_verdict(faults: list[str]) -> list[str]:
    print(f"{'':12}invariants " + (f"BROKEN: {len(faults)}" if faults else "hold"), flush=True)
    return faults


def _idle(target: Target, stream: Stream, serial: Iterator[int], random: Random) -> list[CallResult]:
    with target.client() as client:
        return [send(client, Call(stream, (next(serial),)), random) for _ in range(_WARM_UP_CALLS + _IDLE_CALLS)]


def _run(target: Target, name: str, options: argparse.Namespace, tag: str, serial: Iterator[int]) -> report.Run:
    random = Random(f"{options.seed} {name}")
    streams = [Stream(f"{tag}-{number // 2}", f"s{number % 2}") for number in range(options.streams)]
    before = target.counter.counts() if target.counter else None
    begun = time.perf_counter()
    calls = SCENARIOS[name](streams, random, serial)
    results = drive(target, calls, Limits(options.seconds, options.calls), callers=options.callers, random=random)
    seconds = time.perf_counter() - begun
    counts = target.counter.since(*before) if target.counter and before else (None, None)
    return report.Run(name, results, seconds, *counts)


if __name__ == "__main__":
    sys.exit(main())
