"""Texts that a model copied from its instructions instead of the conversation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from streambank.llm.ports import ExtractedFact, Turn

# A shorter text may occur in the instructions by chance.
_MIN_ECHO_WORDS = 3
_WORD = re.compile(r"\w+")
# The words of the worked examples that stand for what somebody says, such as CITY-1 and PERSON-A.
_PLACEHOLDER = re.compile(r"\b([A-Z]{3,})-([A-Z]|[0-9])\b")
_SPELLED = re.compile(r"(?<!\w)([A-Z]{3,})[-\u2010-\u2013_]([A-Z0-9])(?!\w)", re.IGNORECASE)
_SEPARATOR = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Placeholders:
    """Placeholders that a text may not have, each as its word and its mark."""

    pairs: frozenset[tuple[str, str]]

    @classmethod
    def of(cls, instructions: str, data: str) -> Placeholders:
        """Return the placeholders of *instructions* that *data* does not have, not even in another spelling."""
        words = _SEPARATOR.split(data.upper())
        known = {*pairwise(words), *((word[:-1], word[-1:]) for word in words)}
        return cls(frozenset(_PLACEHOLDER.findall(instructions)) - known)

    def occur_in(self, *texts: str) -> bool:
        """Tell whether one of *texts* has a placeholder."""
        return any(pair in self.pairs for text in texts for pair in _SPELLED.findall(text.upper()))


def uncite_echoes(facts: Iterable[ExtractedFact], turns: Sequence[Turn], system: str) -> tuple[ExtractedFact, ...]:
    """Return *facts*, where each echo of the system text *system* has lost its citations.

    An echo occurs in *system*, and its words do not all occur in the turns that it cites. A fact without citations is
    rejected later, as ungrounded.
    """
    instructions = _words(system)
    texts = {turn.number: turn.text for turn in turns}
    return tuple(replace(fact, events=()) if _is_echo(fact, texts, instructions) else fact for fact in facts)


def _is_echo(fact: ExtractedFact, texts: dict[int, str], instructions: str) -> bool:
    words = _words(fact.fact)
    if len(words.split()) < _MIN_ECHO_WORDS or words not in instructions:
        return False
    cited = _words(" ".join(texts.get(number, "") for number in fact.events))
    return not all(f" {word} " in cited for word in words.split() if len(word) > 3)


def _words(text: str) -> str:
    """Return the words of *text* in lower case, with one space around each."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "
