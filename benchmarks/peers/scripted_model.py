"""The scripted model: the same facts from the same messages, whichever tool sends them."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from benchmarks.peers.conversation import subject

# A fact is the first sentence of a message; transcripts may put the speaker before it.
_STATED = re.compile(r"^(?:user: )?(My [a-z]+ [a-z]+ is [A-Z][a-z]+ [A-Z][a-z]+)\.", re.MULTILINE)
_FACT = re.compile(r"My [a-z]+ [a-z]+ is [A-Z][a-z]+ [A-Z][a-z]+")
_WORD = re.compile(r"\w+")


class Kind(StrEnum):
    """The relation of a fact to the offered memories."""

    NEW = "NEW"
    KNOWN = "KNOWN"
    CHANGED = "CHANGED"


@dataclass(frozen=True, slots=True)
class FactUpdate:
    """A fact, its kind and the memory that it repeats or changes."""

    fact: str
    kind: Kind
    memory: str | None = None


def stated_facts(text: str) -> list[str]:
    """Return the facts that *text* states, only the last one about each subject."""
    return list({subject(fact): fact for fact in _STATED.findall(text)}.values())


def find_fact(text: str) -> str:
    """Return the first fact in *text*, or an empty string."""
    match = _FACT.search(text)
    return match[0] if match else ""


def updates(facts: Iterable[str], memories: Mapping[str, str]) -> list[FactUpdate]:
    """Return the relation of each of *facts* to *memories*, which are texts by their ids."""
    return [_update(fact, memories) for fact in facts]


def _update(fact: str, memories: Mapping[str, str]) -> FactUpdate:
    same = next((key for key, text in memories.items() if text == fact), None)
    if same is not None:
        return FactUpdate(fact, Kind.KNOWN, same)
    about = next((key for key, text in memories.items() if subject(text) == subject(fact)), None)
    return FactUpdate(fact, Kind.NEW if about is None else Kind.CHANGED, about)


def vector(text: str, dimensions: int) -> list[float]:
    """Return the unit vector of *text*: each word adds one at an index from its hash."""
    counts = [0.0] * dimensions
    for word in _WORD.findall(text.lower()):
        counts[int.from_bytes(hashlib.sha256(word.encode()).digest()[:4]) % dimensions] += 1.0
    length = math.sqrt(sum(count * count for count in counts))
    return [count / length for count in counts] if length else [1.0, *counts[1:]]
