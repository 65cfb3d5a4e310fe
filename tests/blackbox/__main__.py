"""`python -m tests.blackbox`: random histories, each against a local service of its own."""

import argparse
import os
import sys
from contextlib import nullcontext
from time import monotonic

os.environ.update(AWS_ACCOUNT_ID_ENDPOINT_MODE="disabled", POWERTOOLS_SERVICE_NAME="streambank")

from streambank_local.service import LocalService
from tests.blackbox.breaks import BREAKS, broken
from tests.blackbox.history import HistoryFailure, play


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.blackbox", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=1, help="how many histories, from --seed on (default 1)")
    parser.add_argument("--actions", type=int, default=100)
    parser.add_argument("--tenants", type=int, default=2)
    parser.add_argument("--broken", choices=sorted(BREAKS), help="break one promise of the service")
    chosen = parser.parse_args()
    with broken(chosen.broken) if chosen.broken else nullcontext():
        results = [_play(seed, chosen) for seed in range(chosen.seed, chosen.seed + chosen.seeds)]
    return 0 if all(results) else 1


def _play(seed: int, chosen: argparse.Namespace) -> bool:
    """Play one history, print how it ended, and return whether every promise held."""
    begun = monotonic()
    with LocalService(parameters={"AuthMode": "keys"}, timer_enabled=False) as service:
        try:
            taken = play(service.base_url, seed, chosen.actions, chosen.tenants)
        except HistoryFailure as failure:
            print(f"seed {seed}: {failure}", file=sys.stderr, flush=True)
            return False
    print(f"seed {seed}: {taken.total()} actions, {monotonic() - begun:.0f} s, every promise holds", flush=True)
    return True


if __name__ == "__main__":
    raise SystemExit(main())
