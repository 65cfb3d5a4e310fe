"""Exports and imports: what a caller asks for, and how far a job has come."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

FORMAT = "streambank-export"
FORMAT_VERSION = 1
MANIFEST = "manifest.json"
_JOB = re.compile(r"(export|import)-([1-9][0-9]{0,11})")


class Direction(StrEnum):
    """Whether records are read from the table, or written to it."""

    EXPORT = "export"
    IMPORT = "import"


@dataclass(frozen=True, slots=True)
class TransferSpec:
    """What an export reads, the whole bank where *scope* is None; or the *source* of an import, a manifest's key."""

    scope: Mapping[str, str] | None = None
    user_id: str | None = None
    conversation_ids: tuple[str, ...] = ()
    source: str = ""


@dataclass(frozen=True, slots=True)
class Transfer:
    """One export or import.

    *run* is the fence: whoever claims the job raises it, and after that an earlier run can record nothing. *runs* says
    how many parts each run wrote, so that the names of all parts are known. *cursor* is empty at the beginning, and an
    export's is `END` when nothing is left. *erasure_number* is that of the bank's newest erasure when the job started.
    """

    bank: str
    direction: Direction
    number: int
    started: datetime
    request: TransferSpec = field(default_factory=TransferSpec)
    run: int = 0
    cursor: tuple[str | int, ...] = ()
    runs: tuple[tuple[int, int], ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    erasure_number: int = 0
    ended: datetime | None = None
    failure: str | None = None

    @property
    def id(self) -> str:
        """Return the id of its operation."""
        return f"{self.direction}-{self.number}"

    @property
    def prefix(self) -> str:
        """Return the prefix of the keys of an export's objects."""
        return f"{self.bank}/export-{self.number}/"

    @property
    def next_part(self) -> str:
        """Return the name of the part that this run writes next; no other run writes an object of that name."""
        return _part(sum(count for _, count in self.runs), self.run)

    @property
    def parts(self) -> list[str]:
        """Return the names of the parts that were recorded, in their order."""
        owners = [run for run, count in self.runs for _ in range(count)]
        return [_part(number, run) for number, run in enumerate(owners)]

    def with_part(self) -> tuple[tuple[int, int], ...]:
        """Return *runs* with one more part of this run."""
        if self.runs and self.runs[-1][0] == self.run:
            return (*self.runs[:-1], (self.run, self.runs[-1][1] + 1))
        return (*self.runs, (self.run, 1))


def _part(number: int, run: int) -> str:
    return f"part-{number:06}-{run}.jsonl"


END: tuple[str | int, ...] = ("END",)


class TransferId(NamedTuple):
    """The operation of an export or an import."""

    direction: Direction
    number: int

    @classmethod
    def parse(cls, text: str) -> TransferId | None:
        """Return the job that *text* names, or None if it names none."""
        match = _JOB.fullmatch(text)
        return cls(Direction(match[1]), int(match[2])) if match else None


@dataclass(frozen=True, slots=True)
class Manifest:
    """The description of a complete export; *parts* are the names of the objects beside it, in their order."""

    bank: str
    started: datetime
    ended: datetime
    scope: Mapping[str, str] | None
    counts: Mapping[str, int]
    parts: tuple[str, ...]
