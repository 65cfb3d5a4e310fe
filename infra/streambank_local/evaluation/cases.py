"""The cases of the gold set: what a scope must remember after a conversation, as data.

A file of `gold/` is a kind, a `[[cases]]` table a case, a `[[cases.windows]]` table one generation of it with the
replies that a good model gives. `gold/README.md` explains each field.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

CASES = Path(__file__).with_name("gold")


@dataclass(frozen=True, slots=True)
class CaseEvent:
    """One event: its role, its text, and the time that the caller gives for it, if any."""

    role: str
    text: str
    at: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """A fact that a good model extracts, with the numbers of the events that it cites.

    *memories* are texts of memories that the model must have been given; the other fields are those of `record_facts`.
    """

    fact: str
    events: tuple[int, ...]
    topic: str | None = None
    change: str | None = None
    memories: tuple[str, ...] = ()
    text: str | None = None


@dataclass(frozen=True, slots=True)
class CaseDecision:
    """A decision of a good model about fact number *fact* of the window, which may have several.

    *memories* are texts of memories that the model must have been given; *same_as* is the number of another fact.
    """

    fact: int
    action: str
    memories: tuple[str, ...] = ()
    text: str | None = None
    same_as: int | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """One generation: its events, how they are sent, and the scripted replies to it.

    *left_out* holds the numbers of the facts about which the second answer has no decision.
    """

    events: tuple[CaseEvent, ...]
    record_facts: tuple[Reply, ...] = ()
    consolidate: tuple[CaseDecision, ...] = ()
    left_out: tuple[int, ...] = ()
    stream: str = "chat"
    overlap: int = 0
    time_zone: str | None = None


@dataclass(frozen=True, slots=True)
class CaseBank:
    """The settings of the bank."""

    third_person: bool = False
    topics: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """A conversation and what must come of it; *expected* holds the acceptable patterns of each fact."""

    id: str
    kind: str
    why: str
    windows: tuple[Window, ...]
    must_not: tuple[str, ...]
    expected: tuple[tuple[str, ...], ...] = ()
    most: int = 0
    gone: tuple[str, ...] = ()
    memories: tuple[str, ...] = ()
    bank: CaseBank = CaseBank()

    def matches(self, glob: str) -> bool:
        """Tell whether *glob* fits the case's id, its kind, or both with a slash between them."""
        kind = self.kind.replace(" ", "_")
        return any(fnmatchcase(name, glob) for name in (self.id, kind, f"{kind}/{self.id}"))

    @property
    def fingerprint(self) -> str:
        """Return a hash of all that a model is given; the patterns and the scripted replies are not in it."""
        windows = [(window.events, window.stream, window.overlap, window.time_zone) for window in self.windows]
        given = [windows, self.memories, asdict(self.bank)]
        text = json.dumps(given, default=asdict, ensure_ascii=False, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@cache
def all_cases() -> tuple[Case, ...]:
    """Return every case, kind by kind."""
    return tuple(case for path in sorted(CASES.glob("*.toml")) for case in _kind(path))


def selected(glob: str = "*", limit: int | None = None) -> Sequence[Case]:
    """Return the cases that *glob* matches, at most *limit* of them, spread evenly over the set."""
    cases = [case for case in all_cases() if case.matches(glob)]
    if limit is None or limit >= len(cases):
        return cases
    return [cases[number * len(cases) // limit] for number in range(limit)]


def _kind(path: Path) -> list[Case]:
    tables = tomllib.loads(path.read_text(encoding="utf-8"))["cases"]
    return [_case(path.stem.replace("_", " "), table) for table in tables]


def _case(kind: str, table: Mapping[str, Any]) -> Case:
    fields = dict(table)
    expected = tuple((item,) if isinstance(item, str) else tuple(item) for item in fields.pop("wanted", ()))
    return Case(
        kind=kind,
        windows=tuple(map(_window, fields.pop("windows"))),
        expected=expected,
        most=fields.pop("most", len(expected)),
        bank=CaseBank(**_frozen(fields.pop("bank", {}))),
        **_frozen(fields),
    )


def _window(table: Mapping[str, Any]) -> Window:
    fields = dict(table)
    return Window(
        events=tuple(map(_event, fields.pop("events"))),
        record_facts=tuple(Reply(**_row(row)) for row in fields.pop("record_facts", ())),
        consolidate=tuple(CaseDecision(**_row(row)) for row in fields.pop("consolidate", ())),
        **_frozen(fields),
    )


def _event(table: Mapping[str, str]) -> CaseEvent:
    [(role, text)] = [(name, table[name]) for name in ("user", "model") if name in table]
    return CaseEvent(role, text, table.get("at"))


def _row(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a row; `memory` stands for `memories` with one text."""
    fields = dict(table)
    if "memory" in fields:
        fields["memories"] = [fields.pop("memory")]
    return _frozen(fields)


def _frozen(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}
