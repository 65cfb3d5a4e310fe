"""`python -m benchmarks.peers`: what is missing is told and left out."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from benchmarks.peers import table, venvs
from benchmarks.peers.ways import WAYS, Failed, Outcome, Way, take

PEERS = tuple(dict.fromkeys(way.peer for way in WAYS))


def main(arguments: Sequence[str] | None = None) -> int:
    """Drive the tools and print the table; return 1 if one that is installed failed."""
    wanted = _wanted(arguments)
    rows: list[tuple[Way, Outcome]] = []
    problems: list[str] = []
    missing: dict[str, str] = {}
    for way in (way for way in WAYS if way.peer in wanted):
        if way.peer in missing:
            continue
        print(f"{way.name} ...", file=sys.stderr, flush=True)
        try:
            rows.append((way, take(way)))
        except venvs.Missing as reason:
            missing[way.peer] = str(reason)
        except Failed as reason:
            problems.append(f"{way.name}, failed: {reason}")
    _show(rows, [*(f"{peer} left out: {reason}" for peer, reason in missing.items()), *problems])
    return int(bool(problems))


def _wanted(arguments: Sequence[str] | None) -> list[str]:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=PEERS, default=PEERS, help="tools to drive (default: all)")
    wanted: list[str] = parser.parse_args(arguments).only
    return wanted


def _show(rows: list[tuple[Way, Outcome]], problems: list[str]) -> None:
    print(f"{table.about()}\n")
    for line in table.lines(rows) if rows else ():
        print(line)
    for peer, hosts in sorted({(way.peer, outcome.refused) for way, outcome in rows if outcome.refused}):
        print(f"\n{peer} tried to reach {', '.join(hosts)}, in vain")
    for problem in problems:
        print(f"\n{problem}")


if __name__ == "__main__":
    sys.exit(main())
