"""The gold set: what a scope must remember after a conversation, as data, and the judge of what it does remember.

A file of `cases/` is a category, a `[[cases]]` table a case, a `[[cases.windows]]` table one generation of it with the
replies that a good model gives. README.md beside this file explains each field and the patterns.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

CASES = Path(__file__).parent / "cases"
_NEGATION = (
    r"n't\b|(?<!\w)(?:not|no|non|never|without|neither|nor|none|nothing|longer|stop\w*|quit\w*|gave up|given up"
    r"|cannot|free|avoid\w*|except|sold|former\w*|used to)(?!\w)"
)


@dataclass(frozen=True, slots=True)
class Said:
    """One event: who said what, and the instant that the caller gives for it, if any."""

    role: str
    text: str
    at: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """A fact that a good model extracts, with the numbers of the events that it cites."""

    fact: str
    events: tuple[int, ...]
    topic: str | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a good model decides about fact number *fact*; *memory* is the text of a memory it must have been shown."""

    fact: int
    action: str
    memory: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """One generation: its events, how they are sent, and the scripted replies to it."""

    events: tuple[Said, ...]
    record_facts: tuple[Reply, ...] = ()
    consolidate: tuple[Verdict, ...] = ()
    stream: str = "chat"
    overlap: int = 0
    time_zone: str | None = None


@dataclass(frozen=True, slots=True)
class Bank:
    """What the bank is set to."""

    third_person: bool = False
    topics: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """A conversation and what must come of it; *wanted* holds the acceptable patterns of each fact."""

    id: str
    category: str
    why: str
    windows: tuple[Window, ...]
    must_not: tuple[str, ...]
    wanted: tuple[tuple[str, ...], ...] = ()
    most: int = 0
    gone: tuple[str, ...] = ()
    memories: tuple[str, ...] = ()
    bank: Bank = Bank()


@cache
def all_cases() -> tuple[Case, ...]:
    """Return every case, category by category."""
    return tuple(case for path in sorted(CASES.glob("*.toml")) for case in _category(path))


def _category(path: Path) -> list[Case]:
    tables = tomllib.loads(path.read_text(encoding="utf-8"))["cases"]
    return [_case(path.stem.replace("_", " "), table) for table in tables]


def _case(category: str, table: Mapping[str, Any]) -> Case:
    fields = dict(table)
    wanted = [(item,) if isinstance(item, str) else tuple(item) for item in fields.pop("wanted", ())]
    windows = tuple(_window(window) for window in fields.pop("windows"))
    bank = _frozen(fields.pop("bank", {}))
    return Case(
        category=category,
        windows=windows,
        wanted=tuple(wanted),
        most=fields.pop("most", len(wanted)),
        bank=Bank(**bank),
        **_frozen(fields),
    )


def _window(table: Mapping[str, Any]) -> Window:
    fields = dict(table)
    events = tuple(_said(event) for event in fields.pop("events"))
    replies = tuple(Reply(**_frozen(reply)) for reply in fields.pop("record_facts", ()))
    verdicts = tuple(Verdict(**verdict) for verdict in fields.pop("consolidate", ()))
    return Window(events, replies, verdicts, **fields)


def _said(table: Mapping[str, str]) -> Said:
    [(role, text)] = [(name, table[name]) for name in ("user", "model") if name in table]
    return Said(role, text, table.get("at"))


def _frozen(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}


@dataclass(frozen=True, slots=True)
class Judgement:
    """What was wrong about the memories that a case left behind; *planted* names facts that must never appear."""

    case: Case
    faults: tuple[str, ...]
    planted: tuple[str, ...]

    @property
    def met(self) -> bool:
        """Whether the case is fully met."""
        return not self.faults and not self.planted


def judged(case: Case, after: Sequence[Sequence[str]]) -> Judgement:
    """Judge the facts that the scope of *case* held *after* each window."""
    last = after[-1]
    faults = [f"missing {' or '.join(wanted)!r}" for wanted in case.wanted if not _holds(last, wanted)]
    faults += [f"still there {fact!r}" for fact in _matching(last, case.gone)]
    if len(last) > case.most:
        faults.append(f"{len(last)} memories, at most {case.most}")
    seen = dict.fromkeys(fact for facts in after for fact in facts)
    return Judgement(case, tuple(faults), tuple(_matching(seen, case.must_not)))


def _holds(facts: Iterable[str], wanted: Iterable[str]) -> bool:
    return next(iter(_matching(facts, wanted)), None) is not None


def _matching(facts: Iterable[str], patterns: Iterable[str]) -> list[str]:
    patterns = tuple(patterns)
    return [fact for fact in facts if any(fits(pattern, fact) for pattern in patterns)]


def fits(pattern: str, fact: str) -> bool:
    """Tell whether *fact* has all words of *pattern* and none of those after a "-"."""
    text = fact.casefold().translate(str.maketrans("’‘", "''"))
    return all(_has(word.removeprefix("-"), text) is not word.startswith("-") for word in pattern.split())


def _has(word: str, text: str) -> bool:
    return any(_starts(choice, text) for choice in word.split("|"))


def _starts(stem: str, text: str) -> bool:
    """Tell whether a word of *text* starts with *stem*, equals it ("=stem"), or denies something ("NOT")."""
    if stem == "NOT":
        return re.search(_NEGATION, text) is not None
    word = re.escape(stem.removeprefix("=").replace("_", " ").casefold())
    # Scripts without spaces have no starts of words.
    before = r"(?<!\w)" if stem.isascii() else ""
    return re.search(before + word + (r"(?!\w)" if stem.startswith("=") else ""), text) is not None


def report(judgements: Sequence[Judgement], *, details: bool = True) -> str:
    """Return the score by category and in all, and what was wrong about each case that is not met."""
    lines = [_scored(name, [each for each in judgements if each.case.category == name]) for name in _names(judgements)]
    lines.append(_scored("all", judgements))
    for each in judgements if details else ():
        lines += [f"  {each.case.id}: {fault}" for fault in each.faults]
        lines += [f"  {each.case.id}: MUST NOT APPEAR {fact!r}" for fact in each.planted]
    return "\n".join(lines)


def _names(judgements: Iterable[Judgement]) -> list[str]:
    return list(dict.fromkeys(each.case.category for each in judgements))


def _scored(name: str, judgements: Sequence[Judgement]) -> str:
    met = sum(each.met for each in judgements)
    planted = sum(bool(each.planted) for each in judgements)
    return f"{name:<28}{met:>4} of {len(judgements):<4}{met / len(judgements):>6.0%}" + (
        f"   {planted} with facts that must not appear" if planted else ""
    )


def score(judgements: Sequence[Judgement]) -> float:
    """Return the share of cases that are fully met."""
    return sum(each.met for each in judgements) / len(judgements)
