"""Compares the facts that a case left behind with the patterns of what it wants."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from streambank_local.evaluation.cases import Case

_NEGATION = (
    r"n't\b|(?<!\w)(?:not|no|non|never|without|neither|nor|none|nothing|longer|stop\w*|quit\w*|gave up|given up"
    r"|cannot|free|avoid\w*|except|sold|former\w*|used to)(?!\w)"
)
_STRAIGHT_QUOTES = str.maketrans("\u2018\u2019", "''")


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a case left behind, and what was wrong about it.

    *facts* are those of the end. *missing* holds patterns, *outdated* and *surplus* are of *facts*. *forbidden* holds
    facts that were there after any window and never should have been. *failure* is why a window was not generated.
    """

    case: Case
    facts: tuple[str, ...]
    missing: tuple[tuple[str, ...], ...] = ()
    outdated: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    surplus: tuple[str, ...] = ()
    failure: str = ""

    @property
    def is_met(self) -> bool:
        """Whether the case is fully met."""
        is_few = len(self.facts) <= self.case.most
        return is_few and not (self.missing or self.outdated or self.forbidden or self.failure)

    @property
    def faults(self) -> list[str]:
        """Return what is wrong, a line each."""
        lines = [f"missing {' or '.join(patterns)!r}" for patterns in self.missing]
        lines += [f"forbidden {fact!r}" for fact in self.forbidden]
        lines += [f"outdated {fact!r}" for fact in self.outdated]
        if len(self.facts) > self.case.most:
            lines.append(f"{len(self.facts)} memories, at most {self.case.most}")
        return lines + ([f"a window failed: {self.failure}"] if self.failure else [])


def judged(case: Case, after: Sequence[Sequence[str]], failure: str = "") -> Judgement:
    """Judge the facts that the scope of *case* held *after* each window."""
    last = tuple(after[-1]) if after else ()
    ever = dict.fromkeys(fact for facts in after for fact in facts)
    forbidden, outdated = _matching(ever, case.must_not), _matching(last, case.gone)
    return Judgement(
        case,
        last,
        missing=tuple(patterns for patterns in case.expected if not _matching(last, patterns)),
        outdated=tuple(outdated),
        forbidden=tuple(forbidden),
        surplus=tuple(_surplus(case, last, {*forbidden, *outdated})),
        failure=failure,
    )


def _surplus(case: Case, facts: Sequence[str], wrong: set[str]) -> list[str]:
    """Return the facts that stand for no wanted one of their own, less as many as the case allows beside those."""
    right = _assigned([fact for fact in facts if fact not in wrong], case.expected)
    others = [fact for fact in facts if fact not in right and fact not in wrong]
    allowed = max(0, case.most - len(case.expected))
    return [fact for fact in facts if fact in wrong or fact in others[allowed:]]


def _assigned(facts: Sequence[str], expected: Sequence[Sequence[str]]) -> set[str]:
    """Return as many of *facts* as can be assigned each to another of *expected* that it fits."""
    owners = dict[int, str]()

    def assign(fact: str, tried: set[int]) -> bool:
        for number, patterns in enumerate(expected):
            if number not in tried and _matching([fact], patterns):
                tried.add(number)
                if number not in owners or assign(owners[number], tried):
                    owners[number] = fact
                    return True
        return False

    for fact in facts:
        assign(fact, set())
    return set(owners.values())


def _matching(facts: Iterable[str], patterns: Iterable[str]) -> list[str]:
    patterns = tuple(patterns)
    return [fact for fact in facts if any(fits(pattern, fact) for pattern in patterns)]


def fits(pattern: str, fact: str) -> bool:
    """Tell whether *fact* has all words of *pattern* and none of those after a "-"."""
    text = fact.casefold().translate(_STRAIGHT_QUOTES)
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
