"""`python -m tests.storm`: a storm of any size, and what was injected."""

import argparse
import os
import sys
from collections import Counter

from streambank.model.scope_index import LARGE_SCOPE
from tests.storm.breaks import BREAKS


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.storm", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--events", type=int, default=20_000)
    parser.add_argument("--jobs", type=int, default=1, help="tables at a time (default 1)")
    parser.add_argument("--moves", type=float, default=0.0, help="how often scopes are moved; an erasure is 1")
    parser.add_argument("--pins", type=float, default=0.0, help="how often memories are pinned")
    parser.add_argument("--broken", choices=sorted(BREAKS), help="overlook one condition")
    parser.add_argument("--large", type=int, default=LARGE_SCOPE, help="memories from which a scope has an index")
    asked = parser.parse_args()
    os.environ.update(AWS_ACCOUNT_ID_ENDPOINT_MODE="disabled", POWERTOOLS_SERVICE_NAME="streambank")
    from tests.storm.rage import rage

    def tell(accepted: int, injected: Counter[str]) -> None:
        print(f"{accepted:8,} events accepted, {injected.total():,} faults", file=sys.stderr, flush=True)

    options = {"broken": asked.broken, "large": asked.large, "moves": asked.moves, "pins": asked.pins}
    accepted, injected = rage(asked.seed, asked.events, jobs=asked.jobs, tell=tell, **options)
    for fault, count in injected.most_common():
        print(f"{count:8,}  {fault}")
    print(f"{injected.total():8,}  faults; {accepted:,} events accepted, every invariant holds")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
