"""`python -m infra.fuzz`: requests made from docs/openapi.json, none of which may meet a fault of ours."""

import argparse
import json
import logging
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "openapi.json"
FUZZER = ROOT / ".venv-fuzz" / "bin" / "schemathesis"
CHECKS = ("not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance")
CASES = 2_000
SEED = 1
# A round takes a minute or two; whatever takes this long hangs.
LONGEST_SECONDS = 900
_MISSING = f"streambank fuzz: there is no {FUZZER.relative_to(ROOT)}; `make fuzz` installs requirements/fuzz.txt there"


def main(arguments: Sequence[str] | None = None) -> int:
    """Fuzz, and return the exit status: 0 if nothing was found."""
    asked = _asked(arguments)
    if not FUZZER.exists():
        print(_MISSING, file=sys.stderr)
        return 2
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    return max(_round(asked, is_tame=is_tame) for is_tame in (True, False))


def _round(asked: argparse.Namespace, *, is_tame: bool) -> int:
    """Fuzz a new service with half of the cases: tame ones get far, wild ones see every check."""
    from infra.fuzz.hints import hinted, tame
    from infra.fuzz.resources import plant
    from streambank_local.service import LocalService

    described = json.loads(DOCUMENT.read_text(encoding="utf-8"))
    with LocalService() as service, tempfile.TemporaryDirectory() as directory:
        document = Path(directory) / "openapi.json"
        found = hinted(described, *plant(service))
        document.write_text(json.dumps(tame(found) if is_tame else found), encoding="utf-8")
        operations = 1 if asked.only else sum(map(len, described["paths"].values()))
        return _run(_command(document, service.base_url, asked, asked.cases // 2 // operations), directory)


def _asked(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m infra.fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=CASES, help=f"requests to make, about (default {CASES})")
    parser.add_argument("--seed", type=int, default=SEED, help=f"what the cases are drawn from (default {SEED})")
    parser.add_argument("--only", metavar="NAME", help="fuzz the operation of this operationId only")
    return parser.parse_args(arguments)


def _command(document: Path, url: str, asked: argparse.Namespace, cases_each: int) -> list[str]:
    return [
        *(str(FUZZER), "run", str(document), "--url", url, "--header", "Authorization: Bearer local"),
        *("--phases", "fuzzing", "--mode", "all", "--checks", ",".join(CHECKS), "--continue-on-failure"),
        *("--max-examples", str(max(1, cases_each)), "--seed", str(asked.seed), "--no-shrink"),
        *("--generation-database", "none", "--request-timeout", "60"),
        *("--suppress-health-check", "all", "--warnings", "off", "--no-color"),
        *(("--include-operation-id", asked.only) if asked.only else ()),
    ]


def _run(command: list[str], directory: str) -> int:
    # The fuzzer looks for settings, and leaves its own, where it is started.
    environment = {**os.environ, "NO_PROXY": "*"}
    done = subprocess.run(command, cwd=directory, env=environment, check=False, timeout=LONGEST_SECONDS)  # noqa: S603
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
