"""`python -m infra.smoke URL --key KEY`: checks a deployed stack; the exit status is 1 if a part does not work."""

import argparse
import os
import sys
import time
import uuid
from collections.abc import Sequence

import httpx

from infra.smoke import aws
from infra.smoke.checks import Smoke

CALL_SECONDS = 35.0  # API Gateway waits 30 s for a function


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the checks, print a finding for each part, and return the exit status."""
    options = _parser().parse_args(arguments)
    headers = {"authorization": f"Bearer {options.key}"}
    failed = 0
    with httpx.Client(base_url=options.url.rstrip("/"), headers=headers, timeout=CALL_SECONDS) as http:
        smoke = Smoke(http, options.bank, {"smoke": uuid.uuid4().hex}, time.sleep, options.wait)
        for finding in smoke.findings(with_schedule=not options.quick):
            failed += not finding.works
            print("\n".join(finding.lines()), flush=True)
    for finding in aws.findings(options.stack, options.region) if options.stack else ():
        failed += not finding.works
        print("\n".join(finding.lines()), flush=True)
    return int(bool(failed))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m infra.smoke", description=__doc__)
    parser.add_argument("url", help="the stack's output Url")
    key = os.environ.get("STREAMBANK_KEY")
    parser.add_argument("--key", required=key is None, default=key, help="a key; by default STREAMBANK_KEY")
    parser.add_argument("--bank", default="default", help="the bank that gets the memory")
    parser.add_argument("--wait", type=float, default=180.0, help="the most seconds for a generation")
    parser.add_argument("--quick", action="store_true", help="leave out the schedule, which takes two minutes")
    parser.add_argument("--stack", help="the stack's name: checks alarms and quota too, with your AWS credentials")
    parser.add_argument("--region", help="the stack's region, for --stack")
    return parser


if __name__ == "__main__":
    sys.exit(main())
