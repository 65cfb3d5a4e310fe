"""`python -m benchmarks.peers`: compares memory tools; those that cannot be installed are reported and left out."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from benchmarks.peers import table, venvs
from benchmarks.peers.setups import SETUPS, Outcome, Setup, ToolFailed, run_setup

PEERS = tuple(dict.fromkeys(setup.peer for setup in SETUPS))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tools and print the table; return 1 if an installed one failed."""
    peers = _peers(arguments)
    rows: list[tuple[Setup, Outcome]] = []
    problems: list[str] = []
    missing: dict[str, str] = {}
    for setup in (setup for setup in SETUPS if setup.peer in peers):
        if setup.peer in missing:
            continue
        print(f"{setup.name} ...", file=sys.stderr, flush=True)
        try:
            rows.append((setup, run_setup(setup)))
        except venvs.ToolMissing as reason:
            missing[setup.peer] = str(reason)
        except ToolFailed as reason:
            problems.append(f"{setup.name}, failed: {reason}")
    _print(rows, [*(f"{peer} left out: {reason}" for peer, reason in missing.items()), *problems])
    return int(bool(problems))


def _peers(arguments: Sequence[str] | None) -> list[str]:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=PEERS, default=PEERS, help="tools to run (default: all)")
    peers: list[str] = parser.parse_args(arguments).only
    return peers


def _print(rows: list[tuple[Setup, Outcome]], problems: list[str]) -> None:
    print(f"{table.about()}\n")
    for line in table.lines(rows) if rows else ():
        print(line)
    for peer, hosts in sorted({(setup.peer, outcome.refused) for setup, outcome in rows if outcome.refused}):
        print(f"\n{peer} tried to reach {', '.join(hosts)}; this was refused")
    for problem in problems:
        print(f"\n{problem}")


if __name__ == "__main__":
    sys.exit(main())
