"""`python -m tests.blackbox`: random histories against a local service of their own."""

import argparse
import os
import sys
from time import monotonic


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.blackbox", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=1, help="how many histories, from --seed on (default 1)")
    parser.add_argument("--actions", type=int, default=100)
    parser.add_argument("--tenants", type=int, default=2)
    chosen = parser.parse_args()
    os.environ.update(AWS_ACCOUNT_ID_ENDPOINT_MODE="disabled", POWERTOOLS_SERVICE_NAME="streambank")
    from streambank_local.service import LocalService
    from tests.blackbox.history import HistoryFailure, play

    failed = []
    for seed in range(chosen.seed, chosen.seed + chosen.seeds):
        begun = monotonic()
        with LocalService(parameters={"AuthMode": "keys"}, timer_enabled=False) as service:
            try:
                taken = play(service.base_url, seed, chosen.actions, chosen.tenants)
                print(
                    f"seed {seed}: {taken.total()} actions, {monotonic() - begun:.0f} s, every promise holds",
                    flush=True,
                )
            except HistoryFailure as failure:
                failed.append(seed)
                print(f"seed {seed}: {failure}", file=sys.stderr, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
