"""`python -m infra.fuzz`: sends requests generated from docs/openapi.json, none of which may fail in the service."""

import argparse
import json
import logging
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from infra.fuzz.hints import with_examples, with_ids

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "openapi.json"
FUZZER = ROOT / ".venv-fuzz" / "bin" / "schemathesis"
CHECKS = ("not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance")
CASES = 2_000
SEED = 1
# A round takes a minute or two; a longer one hangs.
LONGEST_SECONDS = 900
_MISSING = f"streambank fuzz: there is no {FUZZER.relative_to(ROOT)}; `make fuzz` installs requirements/fuzz.txt there"


def main(arguments: Sequence[str] | None = None) -> int:
    """Fuzz, and return the exit status: 0 if every check passed."""
    options = _parse(arguments)
    if not FUZZER.exists():
        print(_MISSING, file=sys.stderr)
        return 2
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    return max(_round(options, uses_examples=uses_examples) for uses_examples in (True, False))


def _round(options: argparse.Namespace, *, uses_examples: bool) -> int:
    """Fuzz a new service with half of the cases, either with the document's examples or with generated values."""
    # Imported here, because it takes seconds: a wrong argument is reported at once.
    from infra.fuzz.resources import create_resources  # noqa: PLC0415
    from streambank_local.service import LocalService  # noqa: PLC0415

    document = json.loads(DOCUMENT.read_text(encoding="utf-8"))
    with LocalService() as service, tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "openapi.json"
        prepared = with_ids(document, *create_resources(service))
        prepared = with_examples(prepared) if uses_examples else prepared
        file.write_text(json.dumps(prepared), encoding="utf-8")
        operations = 1 if options.only else sum(map(len, document["paths"].values()))
        return _run(_command(file, service.base_url, options, options.cases // 2 // operations), directory)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m infra.fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=CASES, help=f"about how many requests to send (default {CASES})")
    parser.add_argument("--seed", type=int, default=SEED, help=f"the seed of the random cases (default {SEED})")
    parser.add_argument("--only", metavar="NAME", help="fuzz the operation of this operationId only")
    return parser.parse_args(arguments)


def _command(file: Path, url: str, options: argparse.Namespace, cases_each: int) -> list[str]:
    return [
        *(str(FUZZER), "run", str(file), "--url", url, "--header", "Authorization: Bearer local"),
        *("--phases", "fuzzing", "--mode", "all", "--checks", ",".join(CHECKS), "--continue-on-failure"),
        *("--max-examples", str(max(1, cases_each)), "--seed", str(options.seed), "--no-shrink"),
        *("--generation-database", "none", "--request-timeout", "60"),
        *("--suppress-health-check", "all", "--warnings", "off", "--no-color"),
        *(("--include-operation-id", options.only) if options.only else ()),
    ]


def _run(command: list[str], directory: str) -> int:
    # The fuzzer reads and writes settings in its working directory.
    environment = {**os.environ, "NO_PROXY": "*"}
    done = subprocess.run(command, cwd=directory, env=environment, check=False, timeout=LONGEST_SECONDS)  # noqa: S603
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
