"""What a model proposes of a window, before anything is checked against its events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from streambank.model.usage import Usage


@dataclass(frozen=True, slots=True)
class ExtractedFact:
    """A proposed fact, the numbers of the turns that it came from, and its topic."""

    fact: str
    events: tuple[int, ...]
    topic: str | None = None


@dataclass(frozen=True, slots=True)
class ExtractedProfile:
    """Values for fields of a profile, and the numbers of the turns that they came from."""

    schema: str
    data: Mapping[str, Any]
    events: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Extraction:
    """The facts of one request; none is an outcome, not a failure."""

    facts: tuple[ExtractedFact, ...]
    usage: Usage = field(default=Usage())
    profiles: tuple[ExtractedProfile, ...] = ()
