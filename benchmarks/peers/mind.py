"""What the scripted model thinks: the same of the same messages, whoever asks and in whatever form."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from benchmarks.peers.conversation import thing_of

# A fact is the sentence that begins a message; transcripts may put the speaker before it.
_STATED = re.compile(r"^(?:user: )?(My [a-z]+ [a-z]+ is [A-Z][a-z]+ [A-Z][a-z]+)\.", re.MULTILINE)
_FACT = re.compile(r"My [a-z]+ [a-z]+ is [A-Z][a-z]+ [A-Z][a-z]+")
_WORD = re.compile(r"\w+")


class Kind(StrEnum):
    """What a fact means for the memories that were shown."""

    NEW = "NEW"
    KNOWN = "KNOWN"
    CHANGED = "CHANGED"


@dataclass(frozen=True, slots=True)
class Meaning:
    """A fact, its kind and the memory that it repeats or changes."""

    fact: str
    kind: Kind
    memory: str | None = None


def stated(text: str) -> list[str]:
    """Return the facts that *text* states, the last word on each thing only."""
    return list({thing_of(fact): fact for fact in _STATED.findall(text)}.values())


def mentioned(text: str) -> str:
    """Return the fact that stands anywhere in *text*, or nothing."""
    found = _FACT.search(text)
    return found[0] if found else ""


def meanings(facts: Iterable[str], known: Mapping[str, str]) -> list[Meaning]:
    """Return what each of *facts* means for *known*, memories by their ids."""
    return [_meaning(fact, known) for fact in facts]


def _meaning(fact: str, known: Mapping[str, str]) -> Meaning:
    same = next((key for key, text in known.items() if text == fact), None)
    if same is not None:
        return Meaning(fact, Kind.KNOWN, same)
    about = next((key for key, text in known.items() if thing_of(text) == thing_of(fact)), None)
    return Meaning(fact, Kind.NEW if about is None else Kind.CHANGED, about)


def vector(text: str, dimensions: int) -> list[float]:
    """Return the unit vector of *text*: each word adds one at a place that its hash tells."""
    counts = [0.0] * dimensions
    for word in _WORD.findall(text.lower()):
        counts[int.from_bytes(hashlib.sha256(word.encode()).digest()[:4]) % dimensions] += 1.0
    length = math.sqrt(sum(count * count for count in counts))
    return [count / length for count in counts] if length else [1.0, *counts[1:]]
