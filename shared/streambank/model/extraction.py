"""What a model proposes for a window, before it is checked against the events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from streambank.model.usage import Usage


@dataclass(frozen=True, slots=True)
class ExtractedFact:
    """A proposed fact, the numbers of the turns behind it, and its topic."""

    fact: str
    events: tuple[int, ...]
    topic: str | None = None


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
