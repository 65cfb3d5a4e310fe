"""Facts that a model took from its own instructions instead of the conversation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from streambank.llm.ports import ExtractedFact, Turn

# A shorter text may stand in the instructions by chance.
_SHORTEST_ECHO = 3
_WORD = re.compile(r"\w+")


def without_echoes(facts: Iterable[ExtractedFact], turns: Sequence[Turn], system: str) -> tuple[ExtractedFact, ...]:
    """Return *facts*; one that stands in *system*, and whose words its turns do not hold, loses its citations.

    What cites nothing is rejected as ungrounded, with its reason, where candidates are judged.
    """
    told = _words(system)
    spoken = {turn.number: turn.text for turn in turns}
    return tuple(replace(fact, events=()) if _is_echo(fact, spoken, told) else fact for fact in facts)


def _is_echo(fact: ExtractedFact, spoken: dict[int, str], told: str) -> bool:
    words = _words(fact.fact)
    if len(words.split()) < _SHORTEST_ECHO or words not in told:
        return False
    heard = _words(" ".join(spoken.get(number, "") for number in fact.events))
    return not all(f" {word} " in heard for word in words.split() if len(word) > 3)


def _words(text: str) -> str:
    """Return the words of *text* in lower case, with one space around each."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "
