"""`make bench`: prints every table."""

from __future__ import annotations

import sys

from benchmarks import cpu, ingest, model


def main() -> int:
    sections = (
        ("Ingest, seal, generation: events of 1 KB of English prose, 500 bytes of settings", ingest.report),
        ("A hundred such events from the call to the memories, windows of 20", model.report),
        ("CPU of the ingest handler", cpu.handler_report),
        ("CPU of starting a function, median of 7 processes", cpu.start_report),
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
