"""What the pipeline asks of models: three small ports, and the values that cross them.

Numbers, not ids, name things: events, facts and memories are counted from 1 within one request, and the
pipeline maps them back, so that a model can only touch what it was shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Literal, Protocol

from streambank.model.plan import FORGET

__all__ = [
    "FORGET",
    "Action",
    "Consolidation",
    "ConsolidationRequest",
    "Consolidator",
    "Decision",
    "Embedder",
    "ExtractedFact",
    "Extraction",
    "ExtractionRequest",
    "Extractor",
    "OfferedFact",
    "OfferedMemory",
    "Turn",
    "Usage",
]


@dataclass(frozen=True, slots=True)
class Usage:
    """What a request cost: model calls made and characters sent."""

    calls: int = 0
    characters: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(self.calls + other.calls, self.characters + other.characters)


@dataclass(frozen=True, slots=True)
class Turn:
    """One event as a model sees it: its number, who spoke, the text, the instant, and whether it is context only."""

    number: int
    role: Literal["user", "model"]
    text: str
    at: datetime
    context: bool = False


@dataclass(frozen=True, slots=True)
class ExtractionRequest:
    """A window's turns in order, overlap first (marked as context)."""

    turns: tuple[Turn, ...]
    topics: tuple[str, ...] = ()
    third_person: bool = False
    time_zone: str = "UTC"


@dataclass(frozen=True, slots=True)
class ExtractedFact:
    """A proposed fact, the numbers of the turns that it came from, and its topic."""

    fact: str
    events: tuple[int, ...]
    topic: str | None = None


@dataclass(frozen=True, slots=True)
class Extraction:
    """The facts of one request; none is an outcome, not a failure."""

    facts: tuple[ExtractedFact, ...]
    usage: Usage = field(default=Usage())


class Action(StrEnum):
    """What a model may decide about a fact."""

    CREATE = "CREATE"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    NONE = "NONE"


@dataclass(frozen=True, slots=True)
class OfferedFact:
    """A candidate as a model sees it."""

    number: int
    fact: str
    topic: str | None
    at: datetime


@dataclass(frozen=True, slots=True)
class OfferedMemory:
    """An existing memory that a model may update or delete in this request."""

    number: int
    fact: str
    as_of: datetime


@dataclass(frozen=True, slots=True)
class ConsolidationRequest:
    """Candidates beside the memories nearest to them."""

    facts: tuple[OfferedFact, ...]
    memories: tuple[OfferedMemory, ...]
    third_person: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do with fact number *fact*: *memory* for UPDATE, DELETE and NONE, *text* for CREATE and UPDATE."""

    fact: int
    action: Action
    memory: int | None = None
    text: str | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Consolidation:
    """The decisions of one request."""

    decisions: tuple[Decision, ...]
    usage: Usage = field(default=Usage())


class Extractor(Protocol):
    """Proposes facts from conversation.

    Raises:
        ModelUnavailable: throttled, timed out or out of reach; worth a retry.
        ModelOutputInvalid: the answer could not be used, also after it was asked again.
    """

    def extract(self, request: ExtractionRequest) -> Extraction: ...


class Consolidator(Protocol):
    """Decides what candidates mean for existing memories. Raises as `Extractor` does."""

    def consolidate(self, request: ConsolidationRequest) -> Consolidation: ...


class Embedder(Protocol):
    """Maps texts to unit vectors of one length, packed as little-endian float32."""

    def embed(self, texts: Sequence[str]) -> list[bytes]: ...
