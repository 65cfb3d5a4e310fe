"""`make bench`: prints every table."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks import client, cpu, ingest, model, search

_LOCOMO = Path(__file__).resolve().parents[2] / "shared" / "data" / "locomo10.json"
# A tenth of the questions takes minutes, all of them an hour: `python -m benchmarks.locomo`.
_LOCOMO_EVERY = 10


def _locomo() -> Iterator[str]:
    """Yield the report on LoCoMo if its file is there."""
    data = Path(os.environ.get("STREAMBANK_LOCOMO", _LOCOMO))
    if not data.is_file():
        yield "skipped: STREAMBANK_LOCOMO names no file; see benchmarks/locomo/__init__.py for where to get it"
        return
    # Imported here: local mode takes seconds to import, and without the file it is not needed.
    from benchmarks.locomo.__main__ import report

    yield f"each {_LOCOMO_EVERY}th question"
    yield from report(data, _LOCOMO_EVERY)


def main() -> int:
    sections = (
        ("Ingest, seal, generation: events of 1 KB of English prose, 500 bytes of settings", ingest.report),
        ("A hundred such events from the call to the memories, windows of 20", model.report),
        ("One similarity search, by the memories and events of its scope", search.report),
        ("Evidence recall on LoCoMo", _locomo),
        ("CPU of the ingest handler", cpu.handler_report),
        ("CPU of starting a function, median of 7 processes", cpu.start_report),
        ("CPU of importing the client library, median of 11 pairs of processes", client.report),
    )
    lines = []
    for title, report in sections:
        print(f"\n{title}\n", flush=True)
        for line in report():
            print(line, flush=True)
            lines.append(line)
    return int(any("OVER THE LIMIT" in line for line in lines))


if __name__ == "__main__":
    sys.exit(main())
