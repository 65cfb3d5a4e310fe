"""What a model proposes for a window, before it is checked against the events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from streambank.model.usage import Usage
from streambank.model.validity import OPEN, Validity


class FactChange(StrEnum):
    """What a fact means for the memories that the model was given."""

    NEW = "NEW"
    REPEATS = "REPEATS"
    CHANGES = "CHANGES"
    FORGETS = "FORGETS"


@dataclass(frozen=True, slots=True)
class ExtractedFact:
    """A proposed fact, the numbers of the turns behind it, and its topic.

    *change* says what it means for the memories whose numbers are *memories*, None where the model did not say; *text*
    is what a changed memory says from then on. *is_correction* says that the memory was never true. *problem* is the
    reason why the row cannot be used, else empty.
    """

    fact: str
    events: tuple[int, ...]
    topic: str | None = None
    change: FactChange | None = None
    memories: tuple[int, ...] = ()
    text: str = ""
    problem: str = ""
    validity: Validity = OPEN
    is_correction: bool = False


@dataclass(frozen=True, slots=True)
class ExtractedProfile:
    """Values for fields of a profile, and the numbers of the turns behind them."""

    schema: str
    data: Mapping[str, Any]
    events: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Extraction:
    """The facts and profiles of one request; no facts at all are a valid result."""

    facts: tuple[ExtractedFact, ...]
    usage: Usage = field(default=Usage())
    profiles: tuple[ExtractedProfile, ...] = ()
