"""Replays: windows that were generated are judged again, and both results are compared; no memory changes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from streambank.model.ids import OperationId
from streambank.model.usage import Usage
from streambank.model.verdict import Verdict

# How long a replay and what it found are kept.
KEPT = timedelta(days=7)
_OF_BANK = re.compile(r"replay-([1-9][0-9]{0,14})")
_OF_WINDOW = re.compile(r"replay-([1-9][0-9]{0,14})-([a-z2-7]{26}-[1-9][0-9]{0,11})")


class MemoriesFrom(StrEnum):
    """The memories that a replay judges by: as they were before the window, or some with their texts of now."""

    BEFORE_WINDOW = "BEFORE_WINDOW"
    NOW = "NOW"


@dataclass(frozen=True, slots=True)
class ReplayedVerdict:
    """A verdict and what the memory said after it; *text* is None where the verdict changed no text."""

    verdict: Verdict
    fact: str
    reason: str = ""
    memory_id: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class JudgedWindow:
    """The verdicts on a window, what they cost, and the model's name where it is known."""

    verdicts: tuple[ReplayedVerdict, ...] = ()
    usage: Usage = field(default=Usage())
    model: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A window's recorded verdicts and those of its replay.

    *missing_memories* counts memories that the recorded answer was given and that are gone since. *omitted* counts
    verdicts that had no room in what is stored.
    """

    memories_from: MemoriesFrom
    recorded: JudgedWindow
    replayed: JudgedWindow
    missing_memories: int = 0
    omitted: int = 0


@dataclass(frozen=True, slots=True)
class Difference:
    """The facts of one window that only one of both answers has, and how many verdicts differ."""

    operation: OperationId
    verdicts: int
    only_recorded: tuple[str, ...] = ()
    only_replayed: tuple[str, ...] = ()
    omitted: int = 0


@dataclass(frozen=True, slots=True)
class ReplaySpec:
    """What is replayed and how: *overrides* stand in place of parts of the bank's configuration of now.

    *windows* is the number of a bank's newest windows, of *scope* only where it is given; 0 for one named window.
    """

    overrides: Mapping[str, Any] = field(default_factory=dict)
    windows: int = 0
    scope: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class WindowPick:
    """A window that the replay of a bank has chosen; *sealed_ms* orders them."""

    sealed_ms: int
    sid: str
    window: int


@dataclass(frozen=True, slots=True)
class BankProgress:
    """How far the replay of a bank has come: it chooses windows stream by stream, then replays them one by one.

    *cursor* is the entry of the registry behind which streams are left, None once all are read. *done* counts the
    *picks* that are replayed. *differing* are windows whose verdicts differ. *failures* are failed windows in a row.
    """

    cursor: tuple[int, str] | None = (0, "")
    picks: tuple[WindowPick, ...] = ()
    done: int = 0
    differing: tuple[OperationId, ...] = ()
    failures: int = 0


@dataclass(frozen=True, slots=True)
class Replay:
    """One replay, of a window, or of a bank's newest windows where *operation* is None.

    *run* is the fence: a run that is not the current one records nothing. *idle_runs* counts runs since the last
    progress. *failure* is the outcome that stopped it.
    """

    bank: str
    number: int
    started: datetime
    request: ReplaySpec
    operation: OperationId | None = None
    run: int = 0
    idle_runs: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    ended: datetime | None = None
    failure: str | None = None
    progress: BankProgress = field(default=BankProgress())
    comparison: Comparison | None = None

    @property
    def id(self) -> str:
        """Return the id of its operation."""
        return str(ReplayId(self.number, self.operation))


@dataclass(frozen=True, slots=True)
class ReplayId:
    """The name of a replay: its number, and the operation of the window where it is of one."""

    number: int
    operation: OperationId | None = None

    def __str__(self) -> str:
        of_window = f"-{self.operation.sid}-{self.operation.window}" if self.operation else ""
        return f"replay-{self.number}{of_window}"

    @classmethod
    def parse(cls, text: str) -> ReplayId | None:
        """Return the id in *text*, or None if *text* is not one."""
        of_bank, of_window = _OF_BANK.fullmatch(text), _OF_WINDOW.fullmatch(text)
        if of_window:
            return cls(int(of_window[1]), OperationId.parse(of_window[2]))
        return cls(int(of_bank[1])) if of_bank else None
