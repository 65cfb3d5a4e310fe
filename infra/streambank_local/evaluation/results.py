"""The results of cases as JSON lines: one is appended as each case ends, so that a run can be stopped and resumed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from streambank_local.evaluation.cases import Case
from streambank_local.evaluation.playing import CaseUsage, Played

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Results:
    """The file of results, of which only those of *model* count."""

    path: Path
    model: str

    def load(self) -> dict[str, Played]:
        """Return what was played with the model, by the cases' fingerprints; the newest result of a case counts."""
        rows = (row for row in self._rows() if row["model"] == self.model and "after" in row)
        return {row["fingerprint"]: _played(row) for row in rows}

    def append(self, case: Case, played: Played) -> None:
        """Add the result of *case*."""
        self._append(case, asdict(played))

    def append_not_played(self, case: Case, reason: str) -> None:
        """Record that the model was away; the case is played again in the next run."""
        self._append(case, {"notPlayed": reason})

    def forget(self) -> None:
        """Remove the results of the model; those of other models stay."""
        if self.path.exists():
            rows = [json.dumps(row, ensure_ascii=False) for row in self._rows() if row["model"] != self.model]
            self.path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")

    def _append(self, case: Case, outcome: Mapping[str, Any]) -> None:
        row = {"model": self.model, "case": case.id, "fingerprint": case.fingerprint, **outcome}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # A run that was killed may have left half a line.
        is_whole = not self.path.exists() or self.path.read_bytes()[-1:] in {b"", b"\n"}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(("" if is_whole else "\n") + json.dumps(row, ensure_ascii=False) + "\n")

    def _rows(self) -> Iterator[Row]:
        if not self.path.exists():
            return
        for line in self.path.read_text(encoding="utf-8", errors="replace").split("\n"):
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if isinstance(row, dict) and {"model", "case", "fingerprint"} <= row.keys():
                yield row


def _played(row: Row) -> Played:
    after = tuple(map(tuple, row["after"]))
    return Played(after, row["failure"], CaseUsage(**row["usage"]), row["seconds"])
