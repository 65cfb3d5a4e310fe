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
# A case takes some tens of milliseconds; whatever takes this long hangs.
LONGEST_SECONDS = 1_800
_MISSING = f"streambank fuzz: there is no {FUZZER.relative_to(ROOT)}; `make fuzz` installs requirements/fuzz.txt there"


def main(arguments: Sequence[str] | None = None) -> int:
    """Fuzz, and return the exit status: 0 if nothing was found."""
    asked = _asked(arguments)
    if not FUZZER.exists():
        print(_MISSING, file=sys.stderr)
        return 2
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    from infra.fuzz.hints import hinted
    from infra.fuzz.resources import plant
    from infra.local.service import LocalService

    with LocalService() as service, tempfile.TemporaryDirectory() as directory:
        document = Path(directory) / "openapi.json"
        described = json.loads(DOCUMENT.read_text(encoding="utf-8"))
        document.write_text(json.dumps(hinted(described, *plant(service))), encoding="utf-8")
        return _run(_command(described, document, service.base_url, asked), directory)


def _asked(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m infra.fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=CASES, help=f"requests to make, about (default {CASES})")
    parser.add_argument("--seed", type=int, default=SEED, help=f"what the cases are drawn from (default {SEED})")
    parser.add_argument("--only", metavar="NAME", help="fuzz the operation of this operationId only")
    return parser.parse_args(arguments)


def _command(described: dict[str, dict[str, object]], document: Path, url: str, asked: argparse.Namespace) -> list[str]:
    operations = sum(map(len, described["paths"].values())) if asked.only is None else 1  # type: ignore[arg-type]
    return [
        *(str(FUZZER), "run", str(document), "--url", url, "--header", "Authorization: Bearer local"),
        *("--phases", "fuzzing", "--mode", "all", "--checks", ",".join(CHECKS), "--continue-on-failure"),
        *("--max-examples", str(max(1, asked.cases // operations)), "--seed", str(asked.seed)),
        *("--generation-database", "none", "--request-timeout", "60", "--max-time", str(LONGEST_SECONDS)),
        *("--suppress-health-check", "all", "--warnings", "off", "--no-color"),
        *(("--include-operation-id", asked.only) if asked.only else ()),
    ]


def _run(command: list[str], directory: str) -> int:
    # The fuzzer looks for settings, and leaves its own, where it is started.
    environment = {**os.environ, "NO_PROXY": "*"}
    done = subprocess.run(command, cwd=directory, env=environment, check=False, timeout=2 * LONGEST_SECONDS)  # noqa: S603
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
